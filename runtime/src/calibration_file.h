#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "shoal/runtime/calibration.h"

namespace shoal::detail {

/// Where a user's calibrations are kept: `shoal` in $XDG_CACHE_HOME, else in ~/.cache; empty where there is neither.
std::filesystem::path calibration_folder();

/// The file in `folder` for what `key` says: processor, cores, ranks and release.
std::filesystem::path calibration_file(const std::filesystem::path& folder, const std::string& key);

/// What `file` holds, if it is a whole one, of that key, and can be true.
std::optional<Calibration> load_calibration(const std::filesystem::path& file, const std::string& key);

/// Keeps it, if that is possible. Who reads meanwhile finds what was there before, or all of this.
bool store_calibration(const std::filesystem::path& file, const std::string& key, const Calibration& calibration);

/// Of this machine and release, and a job of so many ranks on so many cores.
std::string calibration_key(int ranks, int cores);

}  // namespace shoal::detail
