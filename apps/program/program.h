#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace shoal {

class Session;

/// What main() of each of shoal's own programs does: parses the command line that `app` (named after the program)
/// describes, adding --version to it, makes the session and runs `body` in it. Returns the exit status: 0; 1 for
/// an exception out of the session or `body`; 2 for a command line that cannot be, in both cases with one line
/// on standard error: `shoal-demo: unknown ...`.
int run_program(CLI::App& app, int argc, char** argv, const std::function<void(Session&)>& body);

}  // namespace shoal
