#include "shoal/runtime/communicator.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdlib>
#include <utility>

#include "call_book.h"
#include "explanations.h"
#include "fingerprint.h"
#include "shoal/runtime/units.h"

namespace shoal {
namespace {

std::optional<std::chrono::milliseconds> timeout_from_environment() {
  const char* text = std::getenv("SHOAL_TIMEOUT");
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  const auto timeout = parse_duration(text);
  if (!timeout) {
    throw Error(ErrorCode::invalid_argument, fmt::format("SHOAL_TIMEOUT={} is not a duration (500ms, 2s, 10m)", text));
  }
  return timeout;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  // The finalizer of MurmurHash3 over the running value.
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

bool is_collective(Operation operation) {
  return operation != Operation::send && operation != Operation::recv && operation != Operation::exchange;
}

}  // namespace

class Communicator::Lease {
 public:
  Lease(detail::Fabric& fabric, std::uint64_t id) : fabric_(fabric), id_(id) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { fabric_.close_communicator(id_); }

 private:
  detail::Fabric& fabric_;
  std::uint64_t id_;
};

Communicator::Communicator(detail::Fabric& fabric)
    : fabric_(&fabric),
      rank_(fabric.rank()),
      size_(fabric.size()),
      default_timeout_(timeout_from_environment()),
      explanations_(rank_ == 0 ? fabric.explanations() : nullptr) {}

Communicator::Communicator(detail::Fabric& fabric, std::uint64_t id, std::vector<int> members, int rank)
    : fabric_(&fabric),
      rank_(rank),
      size_(static_cast<int>(members.size())),
      default_timeout_(timeout_from_environment()),
      members_(std::move(members)),
      lease_(std::make_unique<Lease>(fabric, id)),
      explanations_(rank == 0 ? fabric.explanations() : nullptr) {
  history_ = mixed(id, 1);
  context_.communicator = id;
  context_.members = members_;
}

// Moving a vector leaves its elements where they are, so context_.members still shows them.
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Traffic Communicator::traffic() const { return fabric_->traffic(); }

void Communicator::begin(const Call& call, std::optional<std::chrono::milliseconds> timeout) {
  if (timeout && timeout->count() < 0)
    refuse(call, fmt::format("a timeout of {} ms: it is 0, for no limit, or more", timeout->count()));
  context_.call = call;
  if (is_collective(call.operation)) {
    context_.sequence = ++sequence_;
    // Of this call and of all before it, so that what no message of a call could show, the next call's will.
    history_ = mixed(mixed(history_, detail::packed_kinds(call)), call.count);
    context_.fingerprint = detail::fingerprint_of(call, history_);
  } else {
    // The two ends of a message make different calls, and need not have made equally many before; sizes are compared
    // when the message comes.
    context_.sequence = 0;
    context_.fingerprint = detail::point_to_point_fingerprint(call.type, mixed(context_.communicator, 0));
  }
  context_.step = 0;
  context_.timeout = timeout.value_or(default_timeout_.value_or(std::chrono::milliseconds{0}));
  context_.waited = std::exchange(waited_to_choose_, {});
  context_.compared = context_.waited;
  fabric_->begin(context_);
  if (explanations_ != nullptr) explanations_->begins(call, size_);
}

void Communicator::end() noexcept {
  if (explanations_ != nullptr) explanations_->ends();
  fabric_->end(context_);
}

const Calibration& Communicator::calibration_for(const Call& call, std::optional<std::chrono::milliseconds> timeout) {
  context_.call = call;
  context_.sequence = 0;  // It has none before it begins, and fits any other.
  context_.fingerprint = 0;
  context_.step = 0;
  context_.timeout = timeout.value_or(default_timeout_.value_or(std::chrono::milliseconds{0}));
  context_.waited = {};
  context_.compared = {};
  try {
    const Calibration& calibration = fabric_->calibration(context_);
    waited_to_choose_ = context_.waited;
    return calibration;
  } catch (const Error& error) {
    fail(error);
    throw;
  }
}

Calibration Communicator::calibration() { return calibration_for({}, {}); }

void Communicator::explain(const Call& call, detail::Choice choice) {
  explanations_->choose(call, size_, std::move(choice));
}

void Communicator::fail(const Error& error) noexcept { fabric_->mark_broken(context_, error); }

void Communicator::refuse(const Call& call, const std::string& mistake) {
  context_.call = call;
  const Error error(ErrorCode::invalid_argument, fmt::format("rank {}: {}: {}", rank_, name(call.operation), mistake));
  fail(error);
  throw error;
}

// Algorithms speak of the ranks of this communicator, the fabric of those of the world.
void Communicator::transfer(detail::Transfer transfer) {
  assert(transfer.to < size_ && transfer.to != rank_ && transfer.from < size_ && transfer.from != rank_);
  ++context_.step;
  if (transfer.to >= 0) transfer.to = world_of(transfer.to);
  if (transfer.from >= 0) transfer.from = world_of(transfer.from);
  fabric_->transfer(transfer, context_);
}

void Communicator::arrive(std::span<const std::byte> payload, std::uint64_t read_by_others) {
  if (size_ == 1) return;
  ++context_.step;
  ++context_.round;
  fabric_->window()->arrive(payload, read_by_others, context_);
}

void Communicator::arrive_with_notice(std::span<const std::byte> notice) {
  if (size_ == 1) return;
  ++context_.step;
  ++context_.round;
  fabric_->window()->arrive_with_notice(notice, context_);
}

std::span<const std::byte> Communicator::await_arrival(int rank) {
  assert(rank != rank_);
  return fabric_->window()->await(world_of(rank), context_);
}

std::span<const std::byte> Communicator::await_arrival(int rank, std::size_t offset, std::size_t bytes) {
  assert(offset + bytes <= detail::kArrivalBytes);
  const auto payload = await_arrival(rank);
  charge(0, bytes);
  return payload.subspan(offset, bytes);
}

std::optional<detail::Place> Communicator::place_of(std::span<const std::byte> memory) const {
  return fabric_->window()->place_of(memory);
}

std::span<std::byte> Communicator::staging() { return fabric_->window()->staging(context_.round + 1, context_); }

std::span<std::byte> Communicator::reach(detail::Place place, std::size_t bytes) {
  return fabric_->window()->reach(place, bytes, context_);
}

void Communicator::copy_from(int rank, detail::Place place, std::span<std::byte> to) {
  if (!to.empty()) fabric_->window()->copy_from(world_of(rank), place, to, context_);
}

void Communicator::copy_to(int rank, detail::Place place, std::span<const std::byte> from) {
  if (!from.empty()) fabric_->window()->copy_to(world_of(rank), place, from, context_);
}

void Communicator::charge(std::uint64_t sent, std::uint64_t received) { fabric_->window()->charge(sent, received); }

void Communicator::send(int to, std::span<const std::byte> out) { transfer({.to = to, .out = out}); }

void Communicator::recv(int from, std::span<std::byte> in) { transfer({.from = from, .in = in}); }

std::size_t Communicator::recv_at_most(int from, std::span<std::byte> in) {
  std::size_t arrived = 0;
  transfer({.from = from, .in = in, .arrived = &arrived});
  return arrived;
}

void Communicator::recv_fold(int from, std::span<std::byte> into, const Fold& fold) {
  transfer({.from = from, .in = into, .fold = &fold});
}

void Communicator::exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in) {
  transfer({.to = to, .out = out, .from = from, .in = in});
}

void Communicator::exchange_fold(int to, std::span<const std::byte> out, int from, std::span<std::byte> into,
                                 const Fold& fold) {
  transfer({.to = to, .out = out, .from = from, .in = into, .fold = &fold});
}

}  // namespace shoal
