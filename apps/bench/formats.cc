#include "bench/formats.h"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/operations.h"

namespace shoal::bench {
namespace {

constexpr double kMicroseconds = 1e6;

std::string_view memory_name(const BenchOptions& options) {
  return options.memory == Memory::heap ? "heap" : "private";
}

std::uint64_t most_sent(const Row& row) { return *std::ranges::max_element(row.sent); }

}  // namespace

std::optional<Bandwidth> bandwidth(const Row& row) {
  if (!has_data(row.call.operation)) return std::nullopt;
  const double bytes = static_cast<double>(row.call.count * element_bytes(row.call.type));
  const double algorithm = bytes / row.times.median() / 1e9;
  return Bandwidth{.algorithm = algorithm,
                   .bus = algorithm * bus_factor(row.call.operation, static_cast<int>(row.sent.size()))};
}

std::string plain_line(const Row& row) {
  std::ostringstream text;
  text << name(row.call.operation) << ' ' << row.bytes << ' ' << std::fixed << std::setprecision(3)
       << row.times.median() * kMicroseconds << '\n';
  return text.str();
}

std::string table_head(const BenchOptions& options, const Machine& machine) {
  std::ostringstream text;
  text << "# " << machine.ranks << (machine.ranks == 1 ? " rank on " : " ranks on ") << machine.cores
       << (machine.cores == 1 ? " core, " : " cores, ") << machine.processor << "; " << memory_name(options)
       << " memory" << (options.in_place ? ", in place" : "") << (options.check ? ", results checked" : "")
       << "\n# us: a call's time, median of " << kRepeats << " repeats; sent: bytes, by the rank that sends the most\n"
       << std::left << std::setw(14) << "op" << std::right << std::setw(12) << "bytes" << std::setw(12) << "count"
       << std::setw(6) << "type" << std::setw(6) << "redop"
       << "  " << std::left << std::setw(18) << "algorithm" << std::right << std::setw(12) << "us" << std::setw(12)
       << "min" << std::setw(12) << "max" << std::setw(12) << "algbw GB/s" << std::setw(12) << "busbw GB/s"
       << std::setw(13) << "sent" << '\n';
  return text.str();
}

std::string table_line(const Row& row) {
  const bool data = has_data(row.call.operation);
  const auto rate = bandwidth(row);
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << std::left << std::setw(14) << name(row.call.operation) << std::right
       << std::setw(12) << row.bytes << std::setw(12) << row.call.count << std::setw(6)
       << (data ? name(row.call.type) : "-") << std::setw(6)
       << (reduces(row.call.operation) ? name(row.call.reduce_op) : "-") << "  " << std::left << std::setw(18)
       << name(row.algorithm) << std::right << std::setw(12) << row.times.median() * kMicroseconds << std::setw(12)
       << row.times.least() * kMicroseconds << std::setw(12) << row.times.most() * kMicroseconds
       << std::setprecision(3);
  if (rate) {
    text << std::setw(12) << rate->algorithm << std::setw(12) << rate->bus;
  } else {
    text << std::setw(12) << "-" << std::setw(12) << "-";
  }
  text << std::setw(13) << most_sent(row) << '\n';
  return text.str();
}

std::string json_text(const BenchOptions& options, const Machine& machine, std::span<const Row> rows) {
  nlohmann::ordered_json json{
      {"schema", "shoal.bench/1"},
      {"machine", {{"processor", machine.processor}, {"cores", machine.cores}, {"ranks", machine.ranks}}},
      {"memory", memory_name(options)},
      {"in_place", options.in_place},
      {"seconds", options.seconds},
      {"checked", options.check}};
  auto& listed = json["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    const auto rate = bandwidth(row);
    auto& entry = listed.emplace_back();
    entry["op"] = name(row.call.operation);
    entry["bytes"] = row.bytes;
    entry["count"] = row.call.count;
    entry["type"] = has_data(row.call.operation) ? nlohmann::ordered_json(name(row.call.type)) : nullptr;
    entry["redop"] = reduces(row.call.operation) ? nlohmann::ordered_json(name(row.call.reduce_op)) : nullptr;
    entry["algorithm"] = name(row.algorithm);
    entry["microseconds"] = row.times.median() * kMicroseconds;
    entry["min"] = row.times.least() * kMicroseconds;
    entry["max"] = row.times.most() * kMicroseconds;
    auto& repeats = entry["repeats"] = nlohmann::ordered_json::array();
    for (const double seconds : row.times.seconds) repeats.push_back(seconds * kMicroseconds);
    entry["calls"] = row.times.calls;
    entry["algbw_GBps"] = rate ? nlohmann::ordered_json(rate->algorithm) : nullptr;
    entry["busbw_GBps"] = rate ? nlohmann::ordered_json(rate->bus) : nullptr;
    entry["sent"] = row.sent;
  }
  return json.dump(2) + "\n";
}

}  // namespace shoal::bench
