// shoal-train: sharded training of an MLP.

#include <csignal>
#include <iostream>

#include "program/program.h"
#include "shoal/runtime/session.h"
#include "train/gradcheck.h"
#include "train/options.h"
#include "train/run.h"

namespace shoal::train {
namespace {

int run(Session& session, const CommandLine& line) {
  if (line.train) return run_training(session, *line.train);
  Communicator& comm = session.world();
  if (comm.size() > 1) throw UsageError("gradcheck runs in one process, without shoalrun or with -n 1");
  std::cout << run_gradcheck(comm, *line.gradcheck);
  return 0;
}

int run_program(int argc, const char* const* argv) {
  CommandLine line;
  return shoal::run_program({.name = "shoal-train",
                             .parse =
                                 [&] {
                                   line = parse_command_line(argc, argv);
                                   return line.text;
                                 },
                             .run = [&](Session& session) { return run(session, line); }});
}

}  // namespace
}  // namespace shoal::train

int main(int argc, char** argv) {
  // A file limit is an error that names the file, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  return shoal::train::run_program(argc, argv);
}
