#pragma once

#include <filesystem>

namespace shoal::train {

/// Throws InputError unless that file can be written: it is there and writable, or its directory is. Nothing is changed.
void expect_writable(const std::filesystem::path& file);

/// Where the file lies that a new one is to replace by a rename: links are followed, so that they stay. Throws InputError
/// unless there is a regular file or none, in a directory that can be written to.
std::filesystem::path replaceable(const std::filesystem::path& file);

}  // namespace shoal::train
