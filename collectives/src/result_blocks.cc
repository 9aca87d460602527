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

bool ResultBlocks::need_no_staging(const Notices& notices) const {
  bool all_reached = true;
  for (int rank = 0; rank < comm_.size(); ++rank) all_reached &= !receives(rank) || notices.of(rank).out != 0;
  return all_reached;
}

void ResultBlocks::find_targets(const Notices& notices, std::uint64_t round, std::size_t bytes) {
  const std::uint64_t begin = begin_of(comm_.rank(), round);
  targets_.count = 0;
  copied_.count = 0;
  staged_ = 0;
  if (receives(comm_.rank())) targets_.add(out_.data() + begin);
  visit_others(comm_, [&](int rank) {
    if (!receives(rank)) return;
    const Place out = notices.of(rank).out;
    if (in_own_memory(out)) {
      copied_.add({rank, out + begin});
    } else if (out != 0) {
      targets_.add(comm_.reach(out + begin, bytes).data());
    } else if (staged_ == 0) {
      const auto staging = blocks_.rest_of_staging();
      staged_ = *comm_.place_of(staging);
      targets_.add(staging.data());
    }
  });
}

void ResultBlocks::hand_on(std::span<const std::byte> piece, std::size_t begin) {
  for (std::byte* const target : targets_.all()) copy_bytes(comm_, piece, std::span(target + begin, piece.size()));
  for (const auto& [rank, place] : copied_.all()) comm_.copy_to(rank, place + begin, piece);
}

void ResultBlocks::form(const Notices& notices, std::uint64_t round, ReduceOp op, DataType type) {
  const int me = comm_.rank();
  const std::size_t bytes = bytes_of(me, round);
  if (bytes == 0) {
    staged_ = 0;
    return;
  }
  find_targets(notices, round, bytes);
  const auto scratch = targets_.count == 0 ? blocks_.rest_of_staging() : std::span<std::byte>{};
  const std::size_t most = !scratch.empty() ? scratch.size() : copied_.count == 0 ? kPieceBytes : kDirectBlockBytes;
  blocks_.combine(notices, round, [&](std::size_t begin, std::size_t size, std::span<const std::byte*> operands) {
    for (std::size_t done = 0; done < size; done += most) {
      const std::size_t piece_bytes = std::min(most, size - done);
      const auto piece =
          scratch.empty() ? std::span(targets_.entries[0] + begin + done, piece_bytes) : scratch.first(piece_bytes);
      combine_tree(comm_, op, type, piece, operands);
      for (const std::byte*& operand : operands) operand += piece_bytes;
      hand_on(piece, begin + done);
    }
  });
  const bool own = receives(me);
  const auto others = static_cast<std::uint64_t>(receiver_ == kEverybody ? comm_.size() - 1 : own ? 0 : 1);
  comm_.charge(others * bytes, 0);
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
}

}  // namespace shoal::detail
