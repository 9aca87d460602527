#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/command.h"

// The installed copy of shoal that the tests of this folder use, and the tools to build something against it. The
// copy is made by install_and_move.cmake (see CMakeLists.txt).

namespace shoal::test {

/// Where the copy is: `prefix / "bin"` and so on.
const std::filesystem::path& prefix();
/// Where the copy's libraries are.
std::filesystem::path library_directory();

/// What the strictest of users compiles with.
const std::vector<std::string>& strict_flags();

/// An empty directory of that name, for the running test alone.
std::filesystem::path fresh_directory(const std::string& name);

/// `cmake -S SOURCE -B BUILD` with this build's generator and compiler, the copy in CMAKE_PREFIX_PATH.
CommandResult configure(const std::filesystem::path& source, const std::filesystem::path& build,
                        const std::vector<std::string>& definitions = {},
                        const std::filesystem::path& installed = prefix());
/// `cmake --build BUILD`.
CommandResult build_all(const std::filesystem::path& build);

/// Runs a command that must succeed, and returns its standard output.
std::string output_of(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {});

/// The lines of what ranks print, in whatever order they printed them.
std::vector<std::string> sorted_lines(const std::string& text);

std::string text_of(const std::filesystem::path& file);

}  // namespace shoal::test
