#include "heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

namespace shoal::detail {
namespace {

constexpr std::size_t kArenaBytes = 1 << 20;

struct Arena {
  std::unique_ptr<std::byte, decltype(&std::free)> memory{
      static_cast<std::byte*>(std::aligned_alloc(4096, kArenaBytes)), &std::free};
  std::span<std::byte> bytes() const { return {memory.get(), kArenaBytes}; }
};

TEST(Heap, OrdinaryContainersLiveInTheArena) {
  const Arena arena;
  Heap heap(arena.bytes(), 0);
  std::pmr::vector<float> numbers(1000, &heap);
  std::iota(numbers.begin(), numbers.end(), 1.0F);
  const auto* begin = reinterpret_cast<const std::byte*>(numbers.data());
  EXPECT_GE(begin, arena.bytes().data());
  EXPECT_LE(begin + 4000, arena.bytes().data() + kArenaBytes);
  numbers.resize(5000);
  EXPECT_EQ(numbers[999], 1000.0F);
}

TEST(Heap, AllocationsStartOnCacheLinesOrWhereAsked) {
  const Arena arena;
  Heap heap(arena.bytes(), 0);
  for (const std::size_t alignment : {1U, 8U, 64U, 256U, 4096U}) {
    const auto address = reinterpret_cast<std::uintptr_t>(heap.allocate(10, alignment));
    EXPECT_EQ(address % std::max<std::size_t>(alignment, 64), 0U) << alignment;
  }
}

TEST(Heap, ExhaustionSaysHowMuchWasAskedForAndHowMuchThereIs) {
  const Arena arena;
  Heap heap(arena.bytes(), 7);
  try {
    (void)heap.allocate(kArenaBytes + 1);
    FAIL() << "no exception";
  } catch (const std::bad_alloc& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("rank 7: shared heap exhausted: 1048577 bytes asked for"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("of 1048576 free"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("--heap"));
  }
}

TEST(Heap, WhatIsFreedCanBeHadAgain) {
  const Arena arena;
  Heap heap(arena.bytes(), 0);
  for (int round = 0; round < 1000; ++round) {
    void* memory = heap.allocate(kArenaBytes / 2);
    heap.deallocate(memory, kArenaBytes / 2);
  }
}

}  // namespace
}  // namespace shoal::detail
