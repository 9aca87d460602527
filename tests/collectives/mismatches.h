#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "collective_checks.h"
#include "shoal/runtime/simulation.h"

namespace shoal::test {

/// Runs `call`, in which ranks do not fit together, on real ranks and under schedules with channels from none up. Every
/// rank must throw `mismatch`, at the latest from the barrier that follows, with these words in its text.
inline void expect_mismatch(int world, const std::vector<std::string>& words,
                            const std::function<void(Communicator&)>& call, std::uint64_t seeds = 5) {
  const auto body = [&](Communicator& comm) {
    try {
      call(comm);
      barrier(comm);
      ADD_FAILURE() << "rank " << comm.rank() << " found nothing";
    } catch (const Error& error) {
      EXPECT_EQ(name(error.code()), "mismatch") << error.what();
      for (const std::string& word : words) EXPECT_THAT(error.what(), testing::HasSubstr(word));
    }
  };
  const auto ranks = run_ranks(world, body);
  EXPECT_TRUE(ranks.checks_passed()) << ranks;
  for (const std::uint64_t channel_bytes : {0U, 4096U, 65536U}) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto result = simulate(world, body, {.seed = seed, .channel_bytes = channel_bytes});
      ASSERT_TRUE(result.ok() && !testing::Test::HasFailure()) << "channel of " << channel_bytes << " bytes\n"
                                                               << result;
    }
  }
}

}  // namespace shoal::test
