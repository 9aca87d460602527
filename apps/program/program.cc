#include "program/program.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>

#include "shoal/runtime/session.h"
#include "shoal/runtime/version.h"

namespace shoal {

int run_program(CLI::App& app, int argc, char** argv, const std::function<void(Session&)>& body) {
  app.set_version_flag("--version", app.get_name() + " " + std::string(kVersion));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version.
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 2;
  }
  try {
    Session session;
    body(session);
    std::cout.flush();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace shoal
