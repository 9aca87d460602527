#include "shoal/collectives/partition.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "chunks.h"
#include "collective_checks.h"

namespace shoal::test {
namespace {

std::vector<std::size_t> sizes_of(const Partition& partition) {
  std::vector<std::size_t> sizes;
  for (int part = 0; part < partition.parts(); ++part) sizes.push_back(partition.size(part));
  return sizes;
}

TEST(Partition, IsThatOfNumpyArraySplit) {
  // numpy.array_split(numpy.arange(n), P), sizes.
  EXPECT_EQ(sizes_of(Partition(10, 4)), (std::vector<std::size_t>{3, 3, 2, 2}));
  EXPECT_EQ(sizes_of(Partition(12, 4)), (std::vector<std::size_t>{3, 3, 3, 3}));
  EXPECT_EQ(sizes_of(Partition(16, 6)), (std::vector<std::size_t>{3, 3, 3, 3, 2, 2}));
  EXPECT_EQ(sizes_of(Partition(3, 7)), (std::vector<std::size_t>{1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(sizes_of(Partition(0, 3)), (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(sizes_of(Partition(5, 1)), (std::vector<std::size_t>{5}));
}

TEST(Partition, ChunksFollowOneAnotherAndCoverEverything) {
  for (int parts = 1; parts <= 17; ++parts) {
    for (std::size_t elements = 0; elements <= 70; ++elements) {
      const Partition partition(elements, parts);
      EXPECT_EQ(partition.elements(), elements);
      EXPECT_EQ(partition.parts(), parts);
      std::size_t at = 0;
      for (int part = 0; part < parts; ++part) {
        EXPECT_EQ(partition.begin(part), at);
        at += partition.size(part);
        EXPECT_EQ(partition.end(part), at);
        if (part > 0) {
          EXPECT_GE(partition.size(part - 1), partition.size(part)) << "longer chunks first";
          EXPECT_LE(partition.size(0) - partition.size(part), 1U);
        }
      }
      EXPECT_EQ(at, elements);
      EXPECT_EQ(partition.begin(parts), elements);
    }
  }
}

TEST(Partition, SlicesElementsAndBytes) {
  std::array<int, 10> data{};
  std::iota(data.begin(), data.end(), 0);
  const Partition partition(10, 4);
  const auto chunk = partition.slice(std::span(data), 2);
  EXPECT_EQ(std::vector<int>(chunk.begin(), chunk.end()), (std::vector<int>{6, 7}));
  const auto bytes = partition.slice_bytes(std::as_bytes(std::span(data)), 2, sizeof(int));
  EXPECT_EQ(bytes.data(), std::as_bytes(chunk).data());
  EXPECT_EQ(bytes.size(), 2 * sizeof(int));
}

TEST(Partition, HoldsMoreThanFourThousandMillionElements) {
  const Partition partition(std::size_t{6'000'000'001}, 4);
  EXPECT_EQ(partition.size(0), 1'500'000'001U);
  EXPECT_EQ(partition.begin(3), 4'500'000'001U);
  EXPECT_EQ(partition.end(3), 6'000'000'001U);
}

TEST(Chunks, CountBytesOfAPartition) {
  const detail::Chunks chunks(Partition(10, 4), 8);
  EXPECT_EQ(chunks.count(), 4);
  EXPECT_EQ(chunks.total(), 80U);
  EXPECT_EQ(chunks.size(1), 24U);
  EXPECT_EQ(chunks.begin(2), 48U);
  EXPECT_EQ(chunks.largest(), 24U);
}

TEST(Chunks, TakeAnyLengths) {
  const std::array<std::size_t, 4> lengths{0, 7, 0, 5};
  const detail::Chunks chunks(lengths);
  EXPECT_EQ(chunks.total(), 12U);
  EXPECT_EQ(chunks.size(0), 0U);
  EXPECT_EQ(chunks.begin(3), 7U);
  EXPECT_EQ(chunks.largest(), 7U);
  std::array<std::byte, 12> data{};
  EXPECT_EQ(chunks.slice(std::span<std::byte>(data), 3).data(), data.data() + 7);
}

TEST(Chunks, AreCutIntoBlocksOfWhichTheLastMayBeShortOrEmpty) {
  std::array<std::byte, 10> data{};
  const std::span<std::byte> chunk(data);
  EXPECT_EQ(detail::block_of(chunk, 0, 4).size(), 4U);
  EXPECT_EQ(detail::block_of(chunk, 2, 4).size(), 2U);
  EXPECT_EQ(detail::block_of(chunk, 2, 4).data(), data.data() + 8);
  EXPECT_EQ(detail::block_of(chunk, 3, 4).size(), 0U);
  EXPECT_EQ(detail::block_of(std::span<std::byte>{}, 0, 4).size(), 0U);
}

}  // namespace
}  // namespace shoal::test
