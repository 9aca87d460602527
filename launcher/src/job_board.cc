// The board is one head and a row per rank in anonymous shared memory, which vanishes with its last process.
#include "job_board.h"

#include <algorithm>
#include <array>
#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <cstddef>
#include <cstring>

#include "shoal/runtime/error.h"

namespace shoal::detail {

struct JobBoard::Text {
  std::uint32_t bytes = 0;
  std::array<char, 4092> content{};

  void set(std::string_view text) {
    const std::size_t length = std::min(text.size(), content.size());
    std::memcpy(content.data(), text.data(), length);
    bytes = static_cast<std::uint32_t>(length);
  }
  // A rank that went wild may have written here: never believe the length.
  std::string get() const { return {content.data(), std::min<std::size_t>(bytes, content.size())}; }
};

/// Rows follow it, so it is a multiple of their alignment.
struct alignas(64) JobBoard::Head {
  bool finished = false;
  bool failed = false;
  bool interrupted = false;
  std::int32_t exit_code = 0;
  std::int32_t rank = -1;
  FailureKind kind = FailureKind::exit;
  std::int32_t code = 0;
  Text message;
  Text refusal;
};

struct JobBoard::Row {
  pid_t process = 0;
  bool ended = false;
  std::int32_t wait_status = 0;
  Usage usage;
  Text error;
};

JobBoard::JobBoard(int ranks) : ranks_(ranks) {
  const std::size_t bytes = sizeof(Head) + static_cast<std::size_t>(ranks) * sizeof(Row);
  try {
    // Fresh anonymous memory is all zero, which is the state of a board that nobody wrote.
    memory_ = boost::interprocess::anonymous_shared_memory(bytes);
  } catch (const boost::interprocess::interprocess_exception& refused) {
    throw Error(ErrorCode::system,
                "cannot map " + std::to_string(bytes) + " bytes for the outcomes of the ranks: " + refused.what());
  }
}

JobBoard::Head& JobBoard::head() const { return *static_cast<Head*>(memory_.get_address()); }

JobBoard::Row& JobBoard::row(int rank) const {
  static_assert(sizeof(Head) % alignof(Row) == 0);
  auto* rows = static_cast<std::byte*>(memory_.get_address()) + sizeof(Head);
  return reinterpret_cast<Row*>(rows)[rank];
}

void JobBoard::set_error(int rank, std::string_view text) { row(rank).error.set(text); }
std::string JobBoard::error(int rank) const { return row(rank).error.get(); }

void JobBoard::set_process(int rank, pid_t process) { row(rank).process = process; }
pid_t JobBoard::process(int rank) const { return row(rank).process; }

void JobBoard::set_end(int rank, int wait_status, const Usage& usage) {
  row(rank).wait_status = wait_status;
  row(rank).usage = usage;
  row(rank).ended = true;
}

Usage JobBoard::usage(int rank) const { return row(rank).usage; }

std::optional<int> JobBoard::wait_status(int rank) const {
  if (!row(rank).ended) return std::nullopt;
  return row(rank).wait_status;
}

void JobBoard::finish(int exit_code, const std::optional<FirstFailure>& failure, bool interrupted) {
  Head& board = head();
  board.interrupted = interrupted;
  board.exit_code = exit_code;
  board.failed = failure.has_value();
  if (failure) {
    board.rank = failure->rank;
    board.kind = failure->kind;
    board.code = failure->code;
    board.message.set(failure->message);
  }
  board.finished = true;
}

void JobBoard::refuse(std::string_view reason) { head().refusal.set(reason); }

bool JobBoard::finished() const { return head().finished; }
int JobBoard::exit_code() const { return head().exit_code; }
bool JobBoard::interrupted() const { return head().interrupted; }

std::optional<FirstFailure> JobBoard::first_failure() const {
  const Head& board = head();
  if (!board.failed) return std::nullopt;
  return FirstFailure{.rank = board.rank, .kind = board.kind, .code = board.code, .message = board.message.get()};
}

std::string JobBoard::refusal() const { return head().refusal.get(); }

}  // namespace shoal::detail
