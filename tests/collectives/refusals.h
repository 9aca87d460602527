#pragma once

#include <functional>
#include <string>

#include "collective_checks.h"

// Calls that a rank's caller got wrong: one Error invalid_argument, naming the call and the argument, on that rank; the
// others, who may be waiting for it, get `broken` with the same text.

namespace shoal::test {

using Body = std::function<void(Communicator&)>;

/// Runs `body` on `world` ranks; rank `culprit` must be refused with `text`, and every other rank must fail too or, if
/// it needs nothing from the culprit, be done.
inline void expect_refused(int world, int culprit, const std::string& text, const Body& body) {
  const auto ranks = run_ranks(world, [&](Communicator& comm) {
    try {
      body(comm);
      if (comm.rank() == culprit) ADD_FAILURE() << "not refused: " << text;
      barrier(comm);  // Whoever got through hears of it here.
      ADD_FAILURE() << "the communicator is not broken after: " << text;
    } catch (const Error& error) {
      const bool own = comm.rank() == culprit;
      EXPECT_EQ(name(error.code()), name(own ? ErrorCode::invalid_argument : ErrorCode::broken)) << error.what();
      const std::string whole = "rank " + std::to_string(culprit) + ": " + text;
      if (own) {
        EXPECT_EQ(error.what(), whole);
      } else {
        EXPECT_NE(std::string(error.what()).find(whole), std::string::npos) << error.what();
      }
    }
    try {
      barrier(comm);
      ADD_FAILURE() << "the communicator is not broken after: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::broken) << error.what();
    }
  });
  EXPECT_TRUE(ranks.checks_passed()) << text << '\n' << ranks;
}

/// A root that is none, given by all; each rank says so of itself, and the first to do so breaks the communicator.
inline void expect_bad_root(const std::string& operation, const std::function<void(Communicator&, int root)>& body) {
  for (const int world : {1, 3}) {
    for (const int root : {-1, world, 1000}) {
      const auto ranks = run_ranks(world, [&](Communicator& comm) {
        try {
          body(comm, root);
          ADD_FAILURE() << operation << ": root " << root << " not refused";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
          EXPECT_EQ(error.what(), "rank " + std::to_string(comm.rank()) + ": " + operation + ": root " +
                                      std::to_string(root) + " is not a rank of this communicator (size " +
                                      std::to_string(comm.size()) + ")");
        }
      });
      EXPECT_TRUE(ranks.checks_passed()) << ranks;
    }
  }
}

}  // namespace shoal::test
