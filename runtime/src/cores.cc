#include "shoal/runtime/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

// Which processors this process may use. A container's limit shows in two places: its cpuset in the affinity mask,
// its quota only in the files of its cgroup.

namespace shoal {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The least quota over this cgroup and those above it, of either version of the interface.
double current_quota() {
  std::ifstream file("/proc/self/cgroup");
  double least = 0;
  const auto consider = [&least](double quota) {
    if (quota > 0 && (least == 0 || quota < least)) {
      least = quota;
    }
  };
  for (std::string line; std::getline(file, line);) {
    // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",cpu,") == std::string::npos) {
      continue;
    }
    std::string path = line.substr(second + 1);
    while (true) {
      if (unified) {
        consider(cgroup_quota(first_line("/sys/fs/cgroup" + path + "/cpu.max")));
      } else {
        const std::string folder = "/sys/fs/cgroup/cpu" + path;
        consider(
            cgroup_quota(first_line(folder + "/cpu.cfs_quota_us") + " " + first_line(folder + "/cpu.cfs_period_us")));
      }
      if (path.empty() || path == "/") {
        break;
      }
      path.resize(path.rfind('/'));
    }
  }
  return least;
}

}  // namespace

int AllowedCores::count() const {
  const int masked = std::max<int>(1, static_cast<int>(cores.size()));
  if (quota <= 0 || quota >= masked) {
    return masked;
  }
  return std::max(1, static_cast<int>(std::floor(quota)));
}

double cgroup_quota(const std::string& cpu_max) {
  std::istringstream fields(cpu_max);
  double quota_us = 0;
  double period_us = 0;
  if (!(fields >> quota_us >> period_us) || quota_us <= 0 || period_us <= 0) {
    return 0;  // "max", -1 (version 1's no limit), or a file that is not there.
  }
  return quota_us / period_us;
}

AllowedCores allowed_cores() {
  AllowedCores allowed;
  // Machines with more processors than a cpu_set_t holds refuse the small set: ask with larger ones.
  for (int capacity = CPU_SETSIZE; capacity <= 1 << 20; capacity *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    std::vector<std::uint64_t> storage(bytes / sizeof(std::uint64_t) + 1);
    auto* set = reinterpret_cast<cpu_set_t*>(storage.data());
    if (sched_getaffinity(0, bytes, set) == 0) {
      for (int core = 0; core < capacity; ++core) {
        if (CPU_ISSET_S(static_cast<std::size_t>(core), bytes, set)) {
          allowed.cores.push_back(core);
        }
      }
      break;
    }
  }
  allowed.quota = current_quota();
  return allowed;
}

}  // namespace shoal
