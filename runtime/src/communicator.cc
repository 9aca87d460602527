#include "shoal/runtime/communicator.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdlib>

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

// What both ends of every message of a call must agree on. The two ends of a point-to-point message make
// different calls, and need not have made equally many before.
std::uint64_t fingerprint_of(const Call& call, std::uint32_t communicator, std::uint64_t sequence) {
  if (!is_collective(call.operation)) {
    return mixed(mixed(communicator, static_cast<std::uint64_t>(call.type)), call.count);
  }
  const std::uint64_t kinds =
      static_cast<std::uint64_t>(call.operation) | static_cast<std::uint64_t>(call.algorithm) << 8 |
      static_cast<std::uint64_t>(call.type) << 16 | static_cast<std::uint64_t>(call.reduce_op) << 24 |
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32;
  return mixed(mixed(mixed(communicator + (std::uint64_t{1} << 32), sequence), kinds), call.count);
}

}  // namespace

Communicator::Communicator(detail::Fabric& fabric)
    : fabric_(&fabric), rank_(fabric.rank()), size_(fabric.size()), default_timeout_(timeout_from_environment()) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Traffic Communicator::traffic() const { return fabric_->traffic(); }

void Communicator::begin(const Call& call, std::optional<std::chrono::milliseconds> timeout) {
  if (is_collective(call.operation)) {
    ++sequence_;
  }
  context_.call = call;
  context_.fingerprint = fingerprint_of(call, context_.communicator, sequence_);
  context_.step = 0;
  context_.timeout = timeout ? *timeout : default_timeout_.value_or(std::chrono::milliseconds{0});
  context_.waited = {};
  fabric_->begin(context_);
}

void Communicator::end() noexcept { fabric_->end(context_); }

void Communicator::fail(const Error& error) noexcept { fabric_->mark_broken(context_, error); }

void Communicator::refuse(const Call& call, const std::string& mistake) {
  context_.call = call;
  const Error error(ErrorCode::invalid_argument, fmt::format("rank {}: {}: {}", rank_, name(call.operation), mistake));
  fail(error);
  throw error;
}

void Communicator::send(int to, std::span<const std::byte> out) {
  assert(to >= 0 && to < size_ && to != rank_);
  ++context_.step;
  fabric_->transfer({.to = to, .out = out}, context_);
}

void Communicator::recv(int from, std::span<std::byte> in) {
  assert(from >= 0 && from < size_ && from != rank_);
  ++context_.step;
  fabric_->transfer({.from = from, .in = in}, context_);
}

void Communicator::exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in) {
  assert(to >= 0 && to < size_ && to != rank_ && from >= 0 && from < size_ && from != rank_);
  ++context_.step;
  fabric_->transfer({.to = to, .out = out, .from = from, .in = in}, context_);
}

void Communicator::exchange_fold(int to, std::span<const std::byte> out, int from, std::span<std::byte> into,
                                 const Fold& fold) {
  assert(to >= 0 && to < size_ && to != rank_ && from >= 0 && from < size_ && from != rank_);
  ++context_.step;
  fabric_->transfer({.to = to, .out = out, .from = from, .in = into, .fold = &fold}, context_);
}

}  // namespace shoal
