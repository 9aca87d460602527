#include "explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

/// In microseconds, with three digits that mean something.
std::string microseconds(double ns) {
  constexpr double kNsPerUs = 1000;
  const double us = ns / kNsPerUs;
  if (us < 10) return fmt::format("{:.2f}", us);
  return us < 100 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

/// "all_reduce sum f32 x 262144 over 2 ranks: direct".
std::string subject_of(const Call& call, int ranks, bool forced) {
  std::string text(name(call.operation));
  if (reduces(call.operation)) text += fmt::format(" {}", name(call.reduce_op));
  if (call.operation != Operation::barrier) text += fmt::format(" {}", name(call.type));
  if (call.count > 0) text += fmt::format(" x {}", call.count);
  return text + fmt::format(" over {} ranks: {}{}", ranks, name(call.algorithm), forced ? " (forced)" : "");
}

/// "; slots 380, pairwise 700": the best first.
std::string others_of(const Call& call, std::vector<Candidate> candidates) {
  std::ranges::stable_sort(candidates, {}, &Candidate::predicted_ns);
  std::string text;
  for (const auto& [algorithm, ns] : candidates)
    if (algorithm != call.algorithm)
      text += fmt::format("{}{} {}", text.empty() ? "; " : ", ", name(algorithm), microseconds(ns));
  return text;
}

std::string predicted_text(double ns) { return ns < 0 ? "" : fmt::format(", predicted {} us", microseconds(ns)); }

/// A line at once, so that those of several ranks do not mix.
void tell(const std::string& text) { std::fputs((text + '\n').c_str(), stderr); }

}  // namespace

std::unique_ptr<Explanations> Explanations::of_environment() {
  const char* const variable = std::getenv("SHOAL_EXPLAIN");
  const std::string_view text(variable == nullptr ? "" : variable);
  if (text.empty() || text == "0") return nullptr;
  if (text != "1")
    throw Error(ErrorCode::invalid_argument, fmt::format("SHOAL_EXPLAIN={}: it is 1, or 0 for nothing", text));
  return std::make_unique<Explanations>();
}

Explanations::Kind Explanations::kind_of(const Call& call, int ranks) {
  return {call.operation, call.algorithm, call.type, call.reduce_op, call.count, ranks};
}

void Explanations::tell_calibration(const std::string& description) {
  tell("shoal: calibration " + description);
  calibration_told_ = true;
}

void Explanations::choose(const Call& call, int ranks, Choice choice) {
  const auto [entry, is_new] = told_.try_emplace(kind_of(call, ranks));
  if (!is_new) return;
  Told& told = entry->second;
  told.subject = subject_of(call, ranks, choice.forced);
  for (const auto& [algorithm, ns] : choice.candidates)
    if (algorithm == call.algorithm) told.predicted_ns = ns;
  told.others = others_of(call, std::move(choice.candidates));
}

void Explanations::begins(const Call& call, int ranks) {
  const auto found = told_.find(kind_of(call, ranks));
  current_ = found == told_.end() ? nullptr : &found->second;
  begun_ = Clock::now();
}

void Explanations::ends() noexcept {
  if (current_ == nullptr) return;
  Told& told = *std::exchange(current_, nullptr);
  const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begun_).count();
  told.taken_ns += ns;
  if (++told.calls > 1) return;
  try {
    tell(fmt::format("shoal: {}{}, took {} us{}", told.subject, predicted_text(told.predicted_ns), microseconds(ns),
                     told.others));
  } catch (const std::exception&) {  // Out of memory for a line is the call's to find, not ours.
  }
}

Explanations::~Explanations() {
  try {
    for (const auto& [kind, told] : told_)
      if (told.calls > 0)
        tell(fmt::format("shoal: in all: {}, {} calls, mean {} us{}", told.subject, told.calls,
                         microseconds(told.taken_ns / static_cast<double>(told.calls)),
                         predicted_text(told.predicted_ns)));
  } catch (const std::exception&) {
  }
}

}  // namespace shoal::detail
