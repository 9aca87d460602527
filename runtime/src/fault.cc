#include "fault.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "shoal/runtime/error.h"
#include "shoal/runtime/units.h"

namespace shoal::detail {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("SHOAL_FAULT={}: {}; it reads like rank=2,op=all_reduce,call=17,action=kill", text, why));
}

// "a=1,b=2" by key.
std::map<std::string, std::string, std::less<>> fields_of(std::string_view text) {
  std::map<std::string, std::string, std::less<>> fields;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view field = rest.substr(0, rest.find(','));
    const auto equals = field.find('=');
    if (equals == std::string_view::npos) refuse(text, fmt::format("'{}' is not KEY=VALUE", field));
    if (!fields.emplace(field.substr(0, equals), field.substr(equals + 1)).second)
      refuse(text, fmt::format("'{}' is given twice", field.substr(0, equals)));
    rest.remove_prefix(std::min(rest.size(), field.size() + 1));
  }
  return fields;
}

std::string operations() {
  std::string list;
  for (std::size_t i = 0; i < kOperationCount; ++i)
    list +=
        fmt::format("{}{}", i == 0 ? "" : (i + 1 < kOperationCount ? ", " : " or "), name(static_cast<Operation>(i)));
  return list;
}

}  // namespace

std::optional<Fault> Fault::of_rank(int rank, int world) {
  const char* text = std::getenv("SHOAL_FAULT");
  if (text == nullptr || *text == '\0') return std::nullopt;
  return parse(text, rank, world);
}

std::optional<Fault> Fault::parse(std::string_view text, int rank, int world) {
  Fault fault;
  std::optional<int> struck;
  bool has_action = false;
  for (const auto& [key, value] : fields_of(text)) {
    if (key == "rank") {
      struck = number<int>(value);
      if (!struck || *struck < 0 || *struck >= world)
        refuse(text, fmt::format("rank is one of this job's, 0 to {}", world - 1));
    } else if (key == "op") {
      fault.operation_ = operation_named(value);
      if (!fault.operation_ && value != "any") refuse(text, fmt::format("op is any, {}", operations()));
    } else if (key == "call") {
      fault.calls_left_ = number<std::uint64_t>(value).value_or(0);
      if (fault.calls_left_ == 0) refuse(text, "call is a number from 1 on");
    } else if (key == "action") {
      has_action = fault.set_action(value);
      if (!has_action) refuse(text, "action is kill, stop, abort, exit:N, throw or sleep:DURATION");
    } else {
      refuse(text, fmt::format("there is no '{}'", key));
    }
  }
  if (!struck || !has_action) refuse(text, "rank and action are needed");
  return *struck == rank ? std::optional(fault) : std::nullopt;
}

bool Fault::set_action(std::string_view text) {
  const std::map<std::string_view, Action> plain{
      {"kill", Action::kill}, {"stop", Action::stop}, {"abort", Action::abort}, {"throw", Action::raise}};
  if (const auto found = plain.find(text); found != plain.end()) {
    action_ = found->second;
    return true;
  }
  if (text.starts_with("exit:")) {
    const auto code = number<int>(text.substr(5));
    action_ = Action::exit;
    exit_code_ = code.value_or(0);
    return code && *code >= 0 && *code <= 255;
  }
  if (text.starts_with("sleep:")) {
    const auto duration = parse_duration(text.substr(6));
    action_ = Action::sleep;
    duration_ = duration.value_or(duration_);
    return duration.has_value();
  }
  return false;
}

void Fault::strike(Operation operation) {
  if (calls_left_ == 0 || (operation_ && *operation_ != operation) || --calls_left_ > 0) return;
  switch (action_) {
    case Action::kill:
      ::raise(SIGKILL);
      return;
    case Action::stop:
      ::raise(SIGSTOP);
      return;
    case Action::abort:
      std::abort();
    case Action::exit:
      std::exit(exit_code_);
    case Action::raise:
      throw std::runtime_error(fmt::format("SHOAL_FAULT: thrown at the start of {}", name(operation)));
    case Action::sleep:
      std::this_thread::sleep_for(duration_);
      return;
  }
}

}  // namespace shoal::detail
