// A calibration kept from one job to the next:
//
//     {"schema": "shoal.calibration/1", "key": "shoal 0.1.0, ... 4 ranks", "hop_ns": 140.2, ...}
//
// It only ever spares a measurement. So whatever is wrong with a file, or with the place for it, is no error: the file
// is as good as none.

#include "calibration_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <system_error>

#include "measure_calibration.h"
#include "shoal/runtime/cores.h"
#include "shoal/runtime/version.h"

namespace shoal::detail {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kSchema = "shoal.calibration/1";
constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 10;

std::uint64_t hash_of(std::string_view text) {  // FNV-1a.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string model;
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) break;  // The first processor's lines end.
    for (const std::string_view field : {"vendor_id", "cpu family", "model", "stepping"}) {
      if (!line.starts_with(field)) continue;
      const auto colon = line.find(':');
      if (colon != std::string::npos) model += line.substr(colon + 1);
    }
  }
  return model;
}

json json_of(const std::string& key, const Calibration& calibration) {
  return {{"schema", kSchema},
          {"key", key},
          {"hop_ns", calibration.hop_ns},
          {"cached_bytes_per_ns", calibration.cached_bytes_per_ns},
          {"uncached_bytes_per_ns", calibration.uncached_bytes_per_ns},
          {"yield_ns", calibration.yield_ns},
          {"cores", calibration.cores},
          {"cache_bytes", calibration.cache_bytes}};
}

std::optional<std::string> text_of_file(const fs::path& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none) || fs::file_size(file, none) > kMostBytes || none) return std::nullopt;
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

fs::path calibration_folder() {
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return fs::path(text == nullptr ? "" : text);
  };
  // By the XDG specification a path that is not absolute counts for nothing.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "shoal";
  if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "shoal";
  return {};
}

fs::path calibration_file(const fs::path& folder, const std::string& key) {
  return folder / fmt::format("calibration-{:016x}.json", hash_of(key));
}

std::optional<Calibration> load_calibration(const fs::path& file, const std::string& key) {
  const auto text = text_of_file(file);
  if (!text) return std::nullopt;
  try {
    const json kept = json::parse(*text);
    if (kept.at("schema") != kSchema || kept.at("key") != key) return std::nullopt;
    const Calibration calibration{.hop_ns = kept.at("hop_ns").get<double>(),
                                  .cached_bytes_per_ns = kept.at("cached_bytes_per_ns").get<double>(),
                                  .uncached_bytes_per_ns = kept.at("uncached_bytes_per_ns").get<double>(),
                                  .yield_ns = kept.at("yield_ns").get<double>(),
                                  .cores = kept.at("cores").get<std::uint32_t>(),
                                  .cache_bytes = kept.at("cache_bytes").get<std::uint32_t>()};
    // Numbers of other kinds, negative or with fractions, are turned into what a field holds: then they are not what
    // was kept.
    if (!is_plausible(calibration) || json_of(key, calibration) != kept) return std::nullopt;
    return calibration;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

bool store_calibration(const fs::path& file, const std::string& key, const Calibration& calibration) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) return false;
  fs::path aside = file;
  aside += fmt::format(".{}", getpid());
  std::ofstream out(aside, std::ios::binary);
  out << json_of(key, calibration).dump(2) << '\n';
  out.close();
  if (out) fs::rename(aside, file, failed);
  if (out && !failed) return true;
  fs::remove(aside, failed);
  return false;
}

std::string calibration_key(int ranks, int cores) {
  const AllowedCores own = allowed_cores();
  return fmt::format("shoal {},{}, {} of {} cores, {} ranks", kVersion, processor(), fmt::join(own.cores, " "), cores,
                     ranks);
}

}  // namespace shoal::detail
