#pragma once

#include <functional>
#include <string>
#include <vector>

namespace shoal {

/// The processors that this process may use: its affinity mask, bounded by the cgroup's CPU quota.
struct AllowedCores {
  std::vector<int> cores;  ///< Of the affinity mask, ascending.
  double quota = 0;        ///< Cores' worth of time that the cgroup allows; 0: no limit.

  /// Ranks that can run at once: the lesser of the mask's cores and the quota rounded down, at least 1.
  int count() const;
};

/// Of this process now. Reads /proc and /sys/fs/cgroup (versions 1 and 2); what cannot be read limits nothing.
AllowedCores allowed_cores();

/// The quota in cores from the texts of a cgroup's files: version 2's cpu.max ("50000 100000", "max 100000").
double cgroup_quota(const std::string& cpu_max);

}  // namespace shoal
