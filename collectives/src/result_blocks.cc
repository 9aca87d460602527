#include "result_blocks.h"

#include <algorithm>

namespace shoal::detail {
namespace {

/// What is combined and copied at once: it is still in the first cache when it is copied.
constexpr std::size_t kPieceBytes = std::size_t{8} << 10;

}  // namespace

std::size_t ResultBlocks::bytes_of(int chunk, std::uint64_t round) const noexcept {
  const std::size_t skipped = std::min<std::size_t>(round * blocks_.block_bytes(), chunks_.size(chunk));
  return std::min(chunks_.size(chunk) - skipped, blocks_.block_bytes());
}

void ResultBlocks::form(const Notices& notices, std::uint64_t round, std::span<const std::byte*> operands, ReduceOp op,
                        DataType type) {
  const int me = comm_.rank();
  const std::size_t bytes = bytes_of(me, round);
  staged_ = 0;
  if (bytes == 0) return;

  std::size_t targets = 0;
  if (receives(me)) targets_[targets++] = out_.data() + begin_of(me, round);
  bool stages = false;
  std::uint64_t receivers = 0;
  visit_others(comm_, [&](int rank) {
    if (!receives(rank)) return;
    ++receivers;
    const Place out = notices.of(rank).out;
    stages |= out == 0;
    if (out != 0) targets_[targets++] = comm_.reach(out + begin_of(me, round), bytes).data();
  });
  if (stages) {
    const auto staging = comm_.staging().last(blocks_.block_bytes());
    staged_ = *comm_.place_of(staging);
    targets_[targets++] = staging.data();
  }
  for (std::size_t done = 0; done < bytes; done += kPieceBytes) {
    const std::size_t piece = std::min(kPieceBytes, bytes - done);
    const std::span<std::byte> first(targets_[0] + done, piece);
    combine_tree(comm_, op, type, first, operands);
    for (const std::byte*& operand : operands) operand += piece;
    for (std::size_t next = 1; next < targets; ++next)
      copy_bytes(comm_, first, std::span(targets_[next] + done, piece));
  }
  comm_.charge(receivers * bytes, 0);
}

void ResultBlocks::take(const Notices& notices, std::uint64_t round) {
  if (!receives(comm_.rank())) return;
  visit_others(comm_, [&](int rank) {
    const std::size_t bytes = bytes_of(rank, round);
    if (bytes == 0) return;
    if (!place_)
      copy_bytes(comm_, comm_.reach(notices.of(rank).result, bytes), out_.subspan(begin_of(rank, round), bytes));
    comm_.charge(0, bytes);
  });
}

void combine_blocks(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int receiver,
                    ReduceOp op, DataType type, Showing showing) {
  const Chunks chunks(Partition(elements_in(in.size(), type), comm.size()), element_bytes(type));
  const ChunkBlocks blocks(comm, in, chunks, showing);
  ResultBlocks results(comm, out, chunks, blocks, receiver, showing);
  Notices notices(comm);
  ByRank<const std::byte*> operands(static_cast<std::size_t>(comm.size()));
  for (std::uint64_t round = 0; round <= blocks.rounds(); ++round) {
    Notice notice;
    if (round < blocks.rounds()) blocks.show(round, notice);
    results.show(notice);
    notices.arrive(notice);
    notices.await_all();
    if (round > 0) results.take(notices, round - 1);
    if (round == blocks.rounds()) break;
    blocks.gather_operands(notices, round, span_of(operands));
    results.form(notices, round, span_of(operands), op, type);
  }
}

}  // namespace shoal::detail
