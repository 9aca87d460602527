#include "stress/checked_messages.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

#include "calls/with_type.h"
#include "stress/drawn_call.h"

namespace shoal::test {
namespace {

/// What rank `from` sends in a round, of the length that it draws.
template <class T>
class Message {
 public:
  Message(std::uint64_t seed, int from, int ranks) {
    Draws draws(seed, static_cast<std::uint64_t>(from), 0);
    size_ = draw_count(draws, ranks);
    elements_ = std::make_unique<T[]>(size_);
    std::generate_n(elements_.get(), size_, [&] { return value_of_random_bits<T>(draws.bits()); });
  }

  std::span<const T> elements() const { return {elements_.get(), size_}; }
  std::uint64_t bytes() const { return size_ * sizeof(T); }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<T[]> elements_;
};

/// Room for a message, and the check that it came.
template <class T>
class Room {
 public:
  explicit Room(const Message<T>& expected)
      : expected_(expected), elements_(std::make_unique<T[]>(expected.elements().size())) {}

  std::span<T> elements() { return {elements_.get(), expected_.elements().size()}; }
  void check(const Communicator& comm, const std::string& operation, int from) {
    const auto right = std::as_bytes(expected_.elements());
    if (std::ranges::equal(std::as_bytes(elements()), right)) return;
    throw std::logic_error("rank " + std::to_string(comm.rank()) + ": " + operation + " of " +
                           std::to_string(expected_.elements().size()) + ' ' + std::string(name(kDataType<T>)) +
                           " from " + std::to_string(from) + ": another content arrived");
  }

 private:
  const Message<T>& expected_;
  std::unique_ptr<T[]> elements_;
};

}  // namespace

Cost checked_send(Communicator& comm, Draws& draws) {
  const int ranks = comm.size();
  const std::uint64_t seed = draws.bits();
  const DataType type = draw_type(draws);
  const int from = draws.rank_of(ranks);
  const int to = (from + 1 + draws.rank_of(std::max(1, ranks - 1))) % ranks;
  Cost moved;
  if (from == to || (comm.rank() != from && comm.rank() != to)) return moved;
  calls::with_type(type, [&]<class T>() {
    const Message<T> message(seed, from, ranks);
    if (comm.rank() == from) {
      send(comm, message.elements(), to);
      moved.sent = message.bytes();
      return;
    }
    Room<T> room(message);
    recv(comm, room.elements(), from);
    room.check(comm, "send", from);
    moved.received = message.bytes();
  });
  return moved;
}

Cost checked_shift(Communicator& comm, Draws& draws) {
  const int ranks = comm.size();
  const std::uint64_t seed = draws.bits();
  const DataType type = draw_type(draws);
  const int distance = draws.rank_of(ranks);
  const int to = (comm.rank() + distance) % ranks;
  const int from = (comm.rank() - distance + ranks) % ranks;
  Cost moved;
  calls::with_type(type, [&]<class T>() {
    const Message<T> mine(seed, comm.rank(), ranks);
    const Message<T> theirs(seed, from, ranks);
    Room<T> room(theirs);
    // Those below the greatest common divisor are one of each ring.
    if (comm.rank() < std::gcd(ranks, distance) || Draws(seed, static_cast<std::uint64_t>(comm.rank()), 1).once_in(2)) {
      exchange(comm, mine.elements(), to, room.elements(), from);
    } else {
      recv(comm, room.elements(), from);
      send(comm, mine.elements(), to);
    }
    room.check(comm, "shift", from);
    if (distance != 0) moved = {.sent = mine.bytes(), .received = theirs.bytes()};
  });
  return moved;
}

}  // namespace shoal::test
