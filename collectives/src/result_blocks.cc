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

bool ResultBlocks::need_no_staging(const Notices& notices) {
  bool all_reached = true;
  bool all_stay = true;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    all_reached &= !receives(rank) || notices.of(rank).out != 0;
    all_stay &= notices.of(rank).result_in_place != 0;
  }
  taken_from_place_ = notices.all_in_place() && !all_reached && all_stay;
  return all_reached || all_stay;
}

Place ResultBlocks::place_to_take(std::size_t bytes, std::size_t& targets) {
  if (blocks_.whole() && receives(comm_.rank())) return Communicator::own_place({targets_[0], bytes});
  std::span<std::byte> memory;
  if (blocks_.whole()) {
    memory = scratch_.emplace(comm_, bytes).bytes();
  } else {
    memory = comm_.staging().last(blocks_.block_bytes());
  }
  targets_[targets++] = memory.data();
  return blocks_.whole() ? Communicator::own_place(memory) : *comm_.place_of(memory);
}

void ResultBlocks::form(const Notices& notices, std::uint64_t round, ReduceOp op, DataType type) {
  const int me = comm_.rank();
  const std::size_t bytes = bytes_of(me, round);
  shown_ = 0;
  if (bytes == 0) return;

  std::size_t targets = 0;
  if (receives(me)) targets_[targets++] = out_.data() + begin_of(me, round);
  bool come_for_it = false;
  std::uint64_t receivers = 0;
  visit_others(comm_, [&](int rank) {
    if (!receives(rank)) return;
    ++receivers;
    const Place out = notices.of(rank).out;
    come_for_it |= out == 0;
    if (out != 0) targets_[targets++] = comm_.reach(out + begin_of(me, round), bytes).data();
  });
  if (come_for_it) shown_ = place_to_take(bytes, targets);
  blocks_.combine(notices, round, [&](std::size_t begin, std::size_t size, std::span<const std::byte*> operands) {
    for (std::size_t done = 0; done < size; done += kPieceBytes) {
      const std::size_t piece = std::min(kPieceBytes, size - done);
      const std::span<std::byte> first(targets_[0] + begin + done, piece);
      combine_tree(comm_, op, type, first, operands);
      for (const std::byte*& operand : operands) operand += piece;
      for (std::size_t next = 1; next < targets; ++next)
        copy_bytes(comm_, first, std::span(targets_[next] + begin + done, piece));
    }
  });
  comm_.charge(receivers * bytes, 0);
}

void ResultBlocks::take(const Notices& notices, std::uint64_t round) {
  if (!receives(comm_.rank())) return;
  visit_others(comm_, [&](int rank) {
    const std::size_t bytes = bytes_of(rank, round);
    if (bytes == 0) return;
    if (!place_) comm_.copy_from(rank, notices.of(rank).result, out_.subspan(begin_of(rank, round), bytes));
    comm_.charge(0, bytes);
  });
}

void combine_blocks(Communicator& comm, std::span<const std::byte> in, std::span<std::byte> out, int receiver,
                    ReduceOp op, DataType type, Showing showing) {
  const Chunks chunks(Partition(elements_in(in.size(), type), comm.size()), element_bytes(type));
  ChunkBlocks blocks(comm, in, chunks, showing);
  ResultBlocks results(comm, out, chunks, blocks, receiver, showing);
  Notices notices(comm);
  for (std::uint64_t round = 0; round <= blocks.rounds(); ++round) {
    Notice notice;
    if (round < blocks.rounds()) blocks.show(round, notice);
    results.show(notice);
    notices.arrive(notice);
    notices.await_all();
    if (round == 0 && notices.all_in_place() && results.need_no_staging(notices)) blocks.take_whole();
    if (round > 0) results.take(notices, round - 1);
    if (round == blocks.rounds()) break;
    blocks.charge_shown(round);
    results.form(notices, round, op, type);
  }
  results.close(notices);
}

}  // namespace shoal::detail
