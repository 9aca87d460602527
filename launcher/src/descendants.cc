#include "descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "descriptor.h"

namespace shoal::detail {
// /proc/PID/stat: "PID (name) state parent group ...". The name may hold blanks and parentheses, so what follows
// it is looked for from the end.
std::optional<Process> read_process(pid_t pid) {
  // Not a std::ifstream: it throws when the process ends while it is read.
  const Descriptor file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> line{};
  const ssize_t size = file.open() ? ::read(file.get(), line.data(), line.size()) : -1;
  if (size <= 0) return std::nullopt;
  const std::string text(line.data(), static_cast<std::size_t>(size));
  const auto after_name = text.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;  // It has just ended.
  Process process{.pid = pid};
  if (std::sscanf(text.c_str() + after_name + 1, " %c %d %d", &process.state, &process.parent, &process.group) != 3)
    return std::nullopt;
  return process;
}

std::vector<Process> descendants() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (!directory) return {};
  std::multimap<pid_t, Process> children_of;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0) continue;
    if (const auto process = read_process(pid)) children_of.emplace(process->parent, *process);
  }
  std::vector<Process> found;
  const auto add_children = [&](pid_t parent) {
    const auto [first, last] = children_of.equal_range(parent);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  };
  add_children(::getpid());
  std::size_t next = 0;
  while (next < found.size()) add_children(found[next++].pid);  // It grows meanwhile.
  return found;
}

}  // namespace shoal::detail
