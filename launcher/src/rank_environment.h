#pragma once

#include <string>
#include <vector>

namespace shoal::detail {

struct RankPlace {
  int rank = 0;
  int world = 1;
  std::string job;        ///< JobSegment::reference().
  int restarts = 0;       ///< How often the job was started before.
  bool terminal = false;  ///< Whether its standard output is shown on a terminal, as it is.
};

/// The environment of a rank as "KEY=VALUE": `inherited`, with `additions` over it, and over both what tells a rank its
/// place: SHOAL_RANK and the like, and the names that other programs look for (RANK, WORLD_SIZE, ...).
std::vector<std::string> rank_environment(const std::vector<std::string>& inherited,
                                          const std::vector<std::string>& additions, const RankPlace& place);

/// This process's own.
std::vector<std::string> current_environment();

}  // namespace shoal::detail
