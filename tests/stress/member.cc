#include "stress/member.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "selection.h"
#include "stress/checked_messages.h"
#include "stress/drawn_call.h"
#include "support/checked_call.h"

namespace shoal::test {
namespace {

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

Member::Member(Session& session, std::uint64_t seed)
    : session_(session), seed_(seed), moved_(session.world().traffic()) {}

void Member::make_call(Communicator& comm, std::uint64_t stream, std::uint64_t call) {
  Draws draws(seed_, stream, call);
  check([&] { return make(comm, draws); });
}

Communicator Member::split(Communicator& comm, int color, int key) {
  std::optional<Communicator> part;
  check([&] {
    part = comm.split(color, key);
    // Each rank's choice to all others; and the number of the new communicator from its first rank to the rest.
    const auto others = [](const Communicator& of) { return static_cast<std::uint64_t>(of.size() - 1); };
    Cost cost{.sent = 8 * others(comm), .received = 8 * others(comm)};
    cost += part->rank() == 0 ? Cost{.sent = 8 * others(*part)} : Cost{.received = 8};
    return cost;
  });
  return std::move(*part);
}

void Member::check(const std::function<Cost()>& call) {
  try {
    const Cost expected = call();
    const Traffic moved = session_.world().traffic();
    if (moved.sent - moved_.sent != expected.sent || moved.received - moved_.received != expected.received)
      report("moved " + std::to_string(moved.sent - moved_.sent) + " out and " +
             std::to_string(moved.received - moved_.received) + " in, not " + std::to_string(expected.sent) + " and " +
             std::to_string(expected.received));
  } catch (const std::logic_error& error) {
    report(error.what());
  }
  moved_ = session_.world().traffic();
}

Cost Member::make(Communicator& comm, Draws& draws) {
  static const std::vector<Operation> collectives = operations();
  constexpr std::size_t kRoundsOfMessages = 2;
  const std::size_t drawn = draws.below(collectives.size() + kRoundsOfMessages);
  if (drawn == collectives.size()) return checked_send(comm, draws);
  if (drawn > collectives.size()) return checked_shift(comm, draws);
  if (collectives[drawn] == Operation::barrier) {
    const auto algorithms = detail::algorithms_of(Operation::barrier);
    return checked_barrier(comm, draws.one_of(algorithms));
  }
  const CheckedCall call(draw_call(draws, collectives[drawn], comm.size()));
  // Each rank by itself: in its shared heap or not.
  const bool in_heap = Draws(call.spec().seed, 0, static_cast<std::uint64_t>(comm.rank())).once_in(2);
  call.run(comm, in_heap ? session_.heap() : std::pmr::get_default_resource());
  return call.cost(comm.rank(), comm.calibration());
}

// The clock is the same for all processes of a machine: none may leave before the last has come.
Cost Member::checked_barrier(Communicator& comm, Algorithm algorithm) {
  const std::array came{now()};
  barrier(comm, {.algorithm = algorithm});
  const std::int64_t left = now();
  std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()));
  all_gather(comm, came, all);
  if (left < *std::ranges::max_element(all))
    throw std::logic_error("rank " + std::to_string(comm.rank()) + " left a barrier that another had not come to");
  return cost({.operation = Operation::all_gather,
               .count = all.size(),
               .type = DataType::i64,
               .ranks = comm.size(),
               .rank = comm.rank(),
               .calibration = comm.calibration()});
}

void Member::report(const std::string& what) {
  constexpr std::uint64_t kTold = 5;
  if (++wrong_ <= kTold) std::cerr << "world rank " + std::to_string(session_.world().rank()) + ": " + what + "\n";
}

}  // namespace shoal::test
