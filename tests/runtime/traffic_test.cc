#include "shoal/runtime/traffic.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(Traffic, ReadingsSubtractToWhatMovedBetweenThem) {
  const Traffic earlier{.sent = 10,
                        .received = 20,
                        .by_op = {{"broadcast", {1, 10, 20}}, {"gather", {2, 0, 0}}},
                        .by_algorithm = {{"broadcast:binomial", {1, 10, 20}}}};
  const Traffic later{.sent = 17,
                      .received = 25,
                      .by_op = {{"broadcast", {3, 13, 25}}, {"gather", {2, 0, 0}}, {"scatter", {1, 4, 0}}},
                      .by_algorithm = {{"broadcast:binomial", {3, 13, 25}}}};
  const Traffic expected{.sent = 7,
                         .received = 5,
                         .by_op = {{"broadcast", {2, 3, 5}}, {"scatter", {1, 4, 0}}},  // gather did not move.
                         .by_algorithm = {{"broadcast:binomial", {2, 3, 5}}}};
  EXPECT_EQ(later - earlier, expected);
}

}  // namespace
}  // namespace shoal
