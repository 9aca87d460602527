// Splitting a communicator: a ring all-gather of every rank's color and key, from which each rank works out its group
// by itself; then the group's first rank takes a communicator from the fabric and tells the others its number.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "shoal/runtime/communicator.h"

namespace shoal {
namespace {

struct Choice {
  std::int32_t color;
  std::int32_t key;
};

// In step s each rank passes on what it got in the step before, beginning with its own:
//
//     choice rank-s --> right        left --> choice rank-s-1        (modulo P)
void gather_choices(Communicator& comm, std::vector<Choice>& choices) {
  const int size = comm.size();
  const auto behind = [&](int distance) { return (comm.rank() - distance + size) % size; };
  const auto bytes_of = [&](int rank) { return std::span(choices).subspan(static_cast<std::size_t>(rank), 1); };
  for (int step = 0; step + 1 < size; ++step)
    comm.exchange((comm.rank() + 1) % size, std::as_bytes(bytes_of(behind(step))), behind(1),
                  std::as_writable_bytes(bytes_of(behind(step + 1))));
}

}  // namespace

Communicator Communicator::split(int color, int key) {
  const Call call{.operation = Operation::split, .algorithm = Algorithm::ring, .type = DataType::i32};
  if (phantom()) refuse(call, "a world without data cannot be split: who belongs where is data");
  std::vector<int> group;    // Ranks here.
  std::vector<int> members;  // The same in the world.
  std::uint64_t id = 0;
  perform(call, {}, [&] {
    std::vector<Choice> choices(static_cast<std::size_t>(size_));
    const auto choice_of = [&](int rank) -> Choice& { return choices[static_cast<std::size_t>(rank)]; };
    choice_of(rank_) = {.color = color, .key = key};
    gather_choices(*this, choices);
    for (int rank = 0; rank < size_; ++rank)
      if (choice_of(rank).color == color) group.push_back(rank);
    std::ranges::stable_sort(group, {}, [&](int rank) { return choice_of(rank).key; });
    std::ranges::transform(group, std::back_inserter(members), [this](int rank) { return world_of(rank); });

    if (group.front() != rank_) {
      recv(group.front(), std::as_writable_bytes(std::span(&id, 1)));
      return;
    }
    id = fabric_->open_communicator(members);
    for (const int member : group)
      if (member != rank_) send(member, std::as_bytes(std::span(&id, 1)));
  });
  const auto place = std::ranges::find(group, rank_) - group.begin();
  return {*fabric_, id, std::move(members), static_cast<int>(place)};
}

}  // namespace shoal
