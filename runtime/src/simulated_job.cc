#include "simulated_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "crossed_wait.h"

namespace shoal::detail {
namespace {

constexpr std::uint64_t kWhole = 16;  // As in shared memory: pieces but the last are whole elements of any type.

std::uint64_t rounded_up(std::uint64_t bytes) {
  return bytes > SimulationOptions::kUnbounded - kWhole ? bytes : (bytes + kWhole - 1) / kWhole * kWhole;
}

}  // namespace

SimulatedJob::SimulatedJob(int ranks, const SimulationOptions& options)
    : options_(options),
      scheduler_(ranks, random(), options.seed, options.stack_bytes),
      ranks_(static_cast<std::size_t>(ranks)),
      channels_(static_cast<std::size_t>(ranks)),
      capacity_(rounded_up(options.channel_bytes)) {}

SimulatedChannel& SimulatedJob::channel(int from, int to) {
  return channels_[static_cast<std::size_t>(from)].try_emplace(to, capacity_, unused_messages_).first->second;
}

SimulatedJob::Shared& SimulatedJob::shared(std::uint64_t communicator) {
  Shared& shared = shared_[communicator];
  if (shared.lines.empty()) shared.lines = std::vector<std::array<SimulatedLine, 2>>(ranks_.size());
  return shared;
}

SimulatedLine& SimulatedJob::line(std::uint64_t communicator, int rank, std::uint64_t parity) {
  return shared(communicator).lines[static_cast<std::size_t>(rank)][parity];
}

std::span<std::byte> SimulatedJob::staging(std::uint64_t communicator, int rank, std::uint64_t parity) {
  const std::size_t bytes = options_.staging_bytes;
  if (options_.phantom) {
    if (!phantom_staging_) phantom_staging_.emplace(bytes);
    return phantom_staging_->bytes();
  }
  std::unique_ptr<std::byte[]>& areas = shared(communicator).staging;
  if (!areas) areas = std::make_unique_for_overwrite<std::byte[]>(ranks_.size() * 2 * bytes);
  return {areas.get() + (static_cast<std::size_t>(rank) * 2 + parity) * bytes, bytes};
}

bool SimulatedJob::is_staging(std::span<const std::byte> memory) const {
  const auto holds = [&](const std::byte* areas, std::size_t bytes) {
    return areas != nullptr && std::less_equal<>{}(areas, memory.data()) && std::less<>{}(memory.data(), areas + bytes);
  };
  if (phantom_staging_) return holds(phantom_staging_->bytes().data(), options_.staging_bytes);
  return std::ranges::any_of(shared_, [&](const auto& entry) {
    return holds(entry.second.staging.get(), ranks_.size() * 2 * options_.staging_bytes);
  });
}

bool SimulatedJob::draw_copies() { return options_.copies && scheduler_.draw(2) == 0; }

bool SimulatedJob::draw_reach() {
  using Reach = SimulationOptions::Reach;
  return options_.reach == Reach::all || (options_.reach == Reach::some && scheduler_.draw(2) == 0);
}

const FirstError* SimulatedJob::broken(std::uint64_t communicator) const {
  const auto found = broken_.find(communicator);
  return found == broken_.end() ? nullptr : &found->second;
}

void SimulatedJob::set_broken(std::uint64_t communicator, const FirstError& error) {
  if (broken_.try_emplace(communicator, error).second) {
    wake_all();
  }
}

void SimulatedJob::die(int rank) {
  this->rank(rank).outcome.died = true;
  dead_ = rank;
  wake_all();
}

void SimulatedJob::finish(int rank) {
  this->rank(rank).finished = true;
  for (int other = 0; other < size(); ++other) {
    if (this->rank(other).awaited.to == rank || this->rank(other).awaited.from == rank) {
      scheduler_.wake(other);
    }
  }
}

std::optional<SimulatedJob::Unread> SimulatedJob::find_unread() const {
  if (!broken_.empty() || dead_) return std::nullopt;
  for (int from = 0; from < static_cast<int>(channels_.size()); ++from) {
    for (const auto& [to, channel] : channels_[static_cast<std::size_t>(from)]) {
      if (const SimulatedMessage* message = channel.front())
        return Unread{to, unread_error(to, from, to, *ranks_[static_cast<std::size_t>(from)].state,
                                       Arrived{message->fingerprint, message->bytes}, {})};
    }
  }
  return std::nullopt;
}

void SimulatedJob::refuse_foreign(int rank, int peer, const Arrived& arrived, const CallContext& context) {
  const RankState& theirs = *this->rank(peer).state;
  const Error error = foreign_message_error(rank, *this->rank(rank).state, peer, theirs, arrived, context);
  const auto sent = find_sent(theirs, arrived.fingerprint, arrived.bytes);
  if (sent && sent->communicator != context.communicator)
    set_broken(sent->communicator, {.code = error.code(), .rank = rank, .peer = peer, .text = error.what()});
  throw Error(error);
}

std::uint64_t SimulatedJob::open_communicator(int members) {
  members_open_[++communicators_] = members;
  return communicators_;
}

void SimulatedJob::close_communicator(std::uint64_t communicator) {
  if (--members_open_[communicator] != 0) return;
  members_open_.erase(communicator);
  shared_.erase(communicator);
}

void SimulatedJob::resolve_standstill() {
  for (int index = 0; index < size(); ++index) {
    CallContext* context = rank(index).blocked_in;
    if (context == nullptr || broken(context->communicator) != nullptr) continue;
    if (const auto mismatch = find_mismatch(index, size(), *context, states())) {
      const Error error = mismatch_error(index, *mismatch, *context);
      set_broken(context->communicator,
                 {.code = error.code(), .rank = index, .peer = mismatch->peer, .text = error.what()});
      return;
    }
  }
  const WaitView view{.state_of = states(),
                      .awaited_by = [this](int index) { return rank(index).awaited; },
                      .nothing_sent_yet = [this](int from, int to) { return channel(from, to).front() == nullptr; }};
  for (int index = 0; index < size(); ++index) {
    const CallContext* context = rank(index).blocked_in;
    if (context == nullptr || broken(context->communicator) != nullptr) continue;
    const auto circle = find_crossed_wait(index, size(), view);
    if (!circle) continue;
    const Error error = crossed_error(index, *circle, *context);
    for (const std::uint64_t communicator : circle->communicators)
      set_broken(communicator, {.code = error.code(), .rank = index, .peer = circle->peer, .text = error.what()});
    return;
  }
  for (int index = 0; index < size(); ++index) {
    const CallContext* context = rank(index).blocked_in;
    if (context == nullptr || broken(context->communicator) != nullptr) continue;
    for (const int peer : {rank(index).awaited.from, rank(index).awaited.to}) {
      const auto error = peer < 0 ? std::nullopt : left_behind_error(index, peer, *rank(peer).state, *context);
      if (!error) continue;
      set_broken(context->communicator, {.code = error->code(), .rank = index, .peer = peer, .text = error->what()});
      return;
    }
  }
  deadlock_ = "deadlock:";
  for (int index = 0; index < size(); ++index) {
    const Rank& blocked = rank(index);
    if (blocked.blocked_in == nullptr) {
      continue;
    }
    const auto& [from, to, arrival] = blocked.awaited;
    deadlock_ += fmt::format("\n  rank {} {} waits", index, where(*blocked.blocked_in));
    if (from >= 0) deadlock_ += fmt::format("{} rank {}", arrival ? " for the arrival of" : " to receive from", from);
    if (to >= 0) deadlock_ += fmt::format("{} send to rank {}", from >= 0 ? " and" : " to", to);
  }
  wake_all();
}

std::uint64_t SimulatedJob::draw_piece(std::uint64_t most, bool rest) {
  const std::uint64_t whole = rest ? most : most / kWhole * kWhole;
  if (!random() || most <= kWhole) {
    return whole;
  }
  const std::uint64_t drawn = (scheduler_.draw((most + kWhole - 1) / kWhole) + 1) * kWhole;
  return drawn < most ? drawn : whole;
}

void SimulatedJob::wake_all() {
  for (int rank = 0; rank < size(); ++rank) {
    scheduler_.wake(rank);
  }
}

}  // namespace shoal::detail
