#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "selection.h"
#include "support/call_spec.h"
#include "support/command.h"

namespace shoal::test {

/// Runs mixed_operations on nine ranks with small channels: nothing is wrong, every rank did its part, and all that
/// there is was used.
inline void expect_nothing_wrong(std::uint64_t operations, std::uint64_t seed, const std::string& groups) {
  const auto result = run_command({SHOALRUN, "-n", "9", "--channel", "16K", MIXED_OPERATIONS,
                                   std::to_string(operations), std::to_string(seed), "--groups", groups});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, testing::EndsWith("; 0 wrong\n"));
  for (int rank = 0; rank < 9; ++rank) {
    const std::string words = "of rank " + std::to_string(rank) + ' ';
    const std::size_t place = result.out.find(words);
    ASSERT_NE(place, std::string::npos) << result.out;
    // Of the messages between two ranks the others have no part.
    EXPECT_GE(std::stoull(result.out.substr(place + words.size())), operations * 9 / 10) << "rank " << rank;
  }
  for (const Operation operation : test::operations())
    for (const Algorithm algorithm : detail::algorithms_of(operation))
      EXPECT_THAT(result.out,
                  testing::HasSubstr(std::string(name(operation)) + ':' + std::string(name(algorithm)) + ' '));
  for (const std::string row : {"send:auto ", "recv:auto ", "exchange:auto ", "split:ring "})
    EXPECT_THAT(result.out, testing::HasSubstr(row));
}

}  // namespace shoal::test
