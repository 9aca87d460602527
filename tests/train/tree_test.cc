#include "train/tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shoal::train {
namespace {

/// The tree as it is defined, on strings: D the largest power of two below the count, then halved.
std::string tree_by_definition(std::vector<std::string> terms) {
  std::size_t distance = 1;
  while (2 * distance < terms.size()) distance *= 2;
  for (; distance >= 1; distance /= 2) {
    for (std::size_t i = 0; i + distance < terms.size(); ++i)
      if (i < distance) terms[i] = "(" + terms[i] + "+" + terms[i + distance] + ")";
    terms.resize(std::min(distance, terms.size()));
  }
  return terms.front();
}

std::string walked_tree(const std::vector<std::string>& terms) {
  std::vector<std::string> stack(canonical_tree_depth(terms.size()));
  walk_canonical_tree(
      terms.size(), [&](std::size_t term, std::size_t depth) { stack.at(depth) = terms[term]; },
      [&](std::size_t depth) { stack.at(depth) = "(" + stack.at(depth) + "+" + stack.at(depth + 1) + ")"; });
  return stack.front();
}

std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < count; ++i) terms.push_back(std::to_string(i));
  return terms;
}

TEST(CanonicalTree, OfFourAddsTheFarOnesFirst) {
  EXPECT_EQ(tree_by_definition(numbers(4)), "((0+2)+(1+3))");
  EXPECT_EQ(walked_tree(numbers(4)), "((0+2)+(1+3))");
}

TEST(CanonicalTree, WalkedDepthFirstIsTheDefinedOne) {
  for (std::size_t count = 1; count <= 70; ++count)
    EXPECT_EQ(walked_tree(numbers(count)), tree_by_definition(numbers(count))) << count;
}

TEST(CanonicalTree, KeepsNoMoreThanLogarithmicallyManySums) {
  EXPECT_EQ(canonical_tree_depth(1), 1U);
  EXPECT_EQ(canonical_tree_depth(2), 2U);
  EXPECT_EQ(canonical_tree_depth(16), 5U);
  EXPECT_EQ(canonical_tree_depth(17), 6U);
}

// A rank's tree over its lanes, then the tree over ranks, is the tree over all lanes: why every power of two of
// ranks gives the same bits.
TEST(CanonicalTree, OverLanesThenRanksIsTheOneOverAllLanes) {
  for (std::size_t lanes = 1; lanes <= 32; lanes *= 2) {
    for (std::size_t ranks = 1; ranks <= lanes; ranks *= 2) {
      std::vector<std::string> sums;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::string> own;
        for (std::size_t lane = rank; lane < lanes; lane += ranks) own.push_back(std::to_string(lane));
        sums.push_back(walked_tree(own));
      }
      EXPECT_EQ(tree_by_definition(sums), tree_by_definition(numbers(lanes))) << lanes << " lanes, " << ranks;
    }
  }
}

TEST(CanonicalSum, TakesTheTreesOrder) {
  // (1e16 - 1e16) + (1 + 3) where from left to right 1 is lost in 1e16: ((1e16 + 1) - 1e16) + 3 is 3.
  EXPECT_EQ(canonical_sum(std::vector<double>{1e16, 1.0, -1e16, 3.0}), 4.0);
  EXPECT_EQ(canonical_sum(std::vector<double>{7.0}), 7.0);
  EXPECT_EQ(canonical_sum({}), 0.0);
}

}  // namespace
}  // namespace shoal::train
