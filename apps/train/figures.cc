#include "train/figures.h"

#include <cstring>
#include <span>
#include <type_traits>

namespace shoal::train {

std::vector<RankFigures> gather_figures(Communicator& comm, const RankFigures& own) {
  static_assert(std::is_trivially_copyable_v<RankFigures>);
  std::array<std::uint8_t, sizeof(RankFigures)> sent{};
  std::memcpy(sent.data(), &own, sizeof own);
  std::vector<std::uint8_t> received(comm.rank() == 0 ? sent.size() * static_cast<std::size_t>(comm.size()) : 0);
  gather(comm, sent, received);
  std::vector<RankFigures> all(received.size() / sizeof(RankFigures));
  for (std::size_t i = 0; i < all.size(); ++i)
    std::memcpy(&all[i], received.data() + i * sizeof(RankFigures), sizeof(RankFigures));
  return all;
}

}  // namespace shoal::train
