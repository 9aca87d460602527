// mixed_operations OPERATIONS SEED: a program of ranks that make so many calls of all kinds, drawn at random, in
// sub-communicators that work side by side, and check every element of every result and every byte counted. Now and
// then all of them make a call together, and a sub-communicator is split again for a few calls.

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "program/program.h"
#include "stress/member.h"

namespace shoal::test {
namespace {

constexpr std::uint64_t kCallsBetweenWorldCalls = 50;
constexpr std::uint64_t kCallsBetweenSplits = 400;
constexpr std::uint64_t kCallsOfAPart = 10;
constexpr std::uint64_t kWorldStream = 1'000;
constexpr std::uint64_t kPartStream = 2'000;  // And up: of the parts of one group, 10 apart from another's.

struct Arguments {
  std::uint64_t operations = 0;
  std::uint64_t seed = 0;
  std::vector<int> groups{3, 3, 3};
};

/// The group of each rank: dealt out like cards, until a group is full.
std::vector<int> deal(const std::vector<int>& groups) {
  std::vector<int> left = groups;
  std::vector<int> group_of;
  for (bool dealt = true; dealt;) {
    dealt = false;
    for (std::size_t group = 0; group < left.size(); ++group) {
      if (left[group] == 0) continue;
      --left[group];
      group_of.push_back(static_cast<int>(group));
      dealt = true;
    }
  }
  return group_of;
}

void make_calls(Session& session, Member& member, const Arguments& arguments) {
  Communicator& world = session.world();
  const std::vector<int> group_of = deal(arguments.groups);
  if (group_of.size() != static_cast<std::size_t>(world.size()))
    throw UsageError("--groups: " + std::to_string(group_of.size()) + " ranks in all, but there are " +
                     std::to_string(world.size()));
  const int color = group_of[static_cast<std::size_t>(world.rank())];
  const auto stream = static_cast<std::uint64_t>(color);
  Communicator group = member.split(world, color, color % 2 == 0 ? 0 : -world.rank());
  for (std::uint64_t call = 0; call < arguments.operations; ++call) {
    member.make_call(group, stream, call);
    if (call % kCallsBetweenWorldCalls == kCallsBetweenWorldCalls - 1) member.make_call(world, kWorldStream, call);
    if (call % kCallsBetweenSplits == kCallsBetweenSplits - 1) {
      const int part_color = group.rank() % 2;
      Communicator part = member.split(group, part_color, 0);
      for (std::uint64_t i = 0; i < kCallsOfAPart; ++i)
        member.make_call(part, kPartStream + 10 * stream + static_cast<std::uint64_t>(part_color), call + i);
    }
  }
}

/// What rank 0 prints: how often each algorithm was used, by its own ledger; then what all have done.
void tell(Communicator& world, std::uint64_t wrong) {
  const Traffic traffic = world.traffic();
  std::uint64_t calls = 0;
  for (const auto& [operation, count] : traffic.by_op) calls += count.calls;
  const std::vector<std::uint64_t> mine{calls, wrong};
  std::vector<std::uint64_t> all(world.rank() == 0 ? 2 * static_cast<std::size_t>(world.size()) : 0);
  gather(world, mine, all, 0);
  if (world.rank() != 0) return;
  for (const auto& [row, count] : traffic.by_algorithm) std::cout << row << ' ' << count.calls << '\n';
  std::uint64_t all_wrong = 0;
  std::cout << "operations";
  for (std::size_t rank = 0; 2 * rank < all.size(); ++rank) {
    std::cout << (rank == 0 ? " of rank " : ", of rank ") << rank << ' ' << all[2 * rank];
    all_wrong += all[2 * rank + 1];
  }
  std::cout << "; " << all_wrong << " wrong\n";
}

int run(Session& session, const Arguments& arguments) {
  Member member(session, arguments.seed);
  make_calls(session, member, arguments);
  tell(session.world(), member.wrong());
  return member.wrong() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace shoal::test

int main(int argc, char** argv) {
  CLI::App app("Makes mixed calls in sub-communicators and checks them all.", "mixed_operations");
  shoal::test::Arguments arguments;
  app.add_option("OPERATIONS", arguments.operations, "Calls of each sub-communicator")->required();
  app.add_option("SEED", arguments.seed, "Decides all calls")->required();
  app.add_option("--groups", arguments.groups, "Ranks of each sub-communicator (3,3,3)")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  return shoal::run_program({.name = app.get_name(),
                             .parse = [&] { return shoal::parse_command_line(app, argc, argv); },
                             .run = [&](shoal::Session& session) { return shoal::test::run(session, arguments); }});
}
