#include "support/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace shoal::test {
namespace {

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  }
};

[[noreturn]] void become(std::vector<std::string> argv, std::vector<std::string> environment, const Pipe& out,
                         const Pipe& err) {
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(out.ends[1], STDOUT_FILENO);
  ::dup2(err.ends[1], STDERR_FILENO);
  for (std::string& variable : environment) ::putenv(variable.data());
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (std::string& argument : argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

/// Appends what can be read; closes and forgets the descriptor at its end.
void drain(pollfd& source, std::string& text) {
  std::array<char, 65536> piece{};
  const ssize_t size = ::read(source.fd, piece.data(), piece.size());
  if (size > 0) {
    text.append(piece.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {
    ::close(source.fd);
    source.fd = -1;
  }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  const Pipe out;
  const Pipe err;
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) become(argv, environment, out, err);
  ::close(out.ends[1]);
  ::close(err.ends[1]);

  CommandResult result;
  std::array<pollfd, 2> sources{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) break;
    if (sources[0].fd >= 0 && sources[0].revents != 0) drain(sources[0], result.out);
    if (sources[1].fd >= 0 && sources[1].revents != 0) drain(sources[1], result.err);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace shoal::test
