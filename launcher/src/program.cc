#include "program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "exit_status.h"

namespace shoal::detail {
namespace {

// As exec takes them; valid as long as `texts` is.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Program::Program(std::vector<std::string> arguments, std::string directory)
    : arguments_(std::move(arguments)),
      directory_(std::move(directory)),
      reports_(make_pipe("the start of the ranks")) {
  ::fcntl(reports_.read.get(), F_SETFL, O_NONBLOCK);
}

int Program::become(std::vector<std::string> environment) {
  if (!directory_.empty() && ::chdir(directory_.c_str()) != 0) return report(Step::directory, errno);
  auto entries = pointers_to(environment);
  auto arguments = pointers_to(arguments_);
  environ = entries.data();  // execvp looks the program up in this one's PATH.
  ::execvp(arguments[0], arguments.data());
  return report(Step::program, errno);
}

int Program::report(Step step, int error) {
  const Report report{.step = step, .error = error};
  [[maybe_unused]] const ssize_t written = ::write(reports_.write.get(), &report, sizeof report);
  return kExitNotFound;
}

std::optional<FirstFailure> Program::failure() {
  Report report;
  if (::read(reports_.read.get(), &report, sizeof report) != static_cast<ssize_t>(sizeof report)) return std::nullopt;
  FirstFailure failure{.rank = -1, .kind = FailureKind::exit, .code = 1, .message = ""};
  if (report.step == Step::directory) {
    failure.message = "cannot change to the directory " + directory_ + ": " + std::strerror(report.error);
    return failure;
  }
  const std::string& program = arguments_.front();
  const bool is_path = program.find('/') != std::string::npos;
  const int base = directory_.empty() ? AT_FDCWD : ::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  const bool exists = is_path && ::faccessat(base, program.c_str(), F_OK, 0) == 0;
  if (base >= 0) ::close(base);
  failure.code = exit_code_of_exec(report.error, exists);
  failure.message = "cannot run " + program + ": " +
                    (report.error == ENOENT && !is_path ? "not found in PATH" : std::strerror(report.error));
  if (report.error == ENOENT && exists) failure.message += " (the interpreter that it names)";
  return failure;
}

int exit_code_of_exec(int error, bool exists) {
  const bool absent = (error == ENOENT && !exists) || error == ENOTDIR || error == ENAMETOOLONG;
  return absent ? kExitNotFound : kExitNotExecutable;
}

}  // namespace shoal::detail
