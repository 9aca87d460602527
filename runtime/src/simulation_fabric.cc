// A transfer moves what it can; when it can move nothing its fiber blocks until a peer that it waits for has moved
// something on their channel, has ended, or the communicator is broken.

#include "simulation_fabric.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "explanations.h"
#include "mapping.h"

namespace shoal::detail {

class SimulationFabric::Outgoing {
 public:
  Outgoing(SimulatedJob& job, int from, const Transfer& transfer)
      : job_(job), from_(from), to_(transfer.to), out_(transfer.out), done_(to_ < 0) {
    if (!done_) {
      channel_ = &job.channel(from_, to_);
      const auto& options = job.options();
      busy_until_ = job.rank(from).outcome.clock + transfer_time(options, out_.size());
    }
  }

  bool done() const { return done_; }
  int waits_to() const { return done_ ? -1 : to_; }
  std::chrono::nanoseconds busy_until() const { return busy_until_; }

  /// Whether anything moved.
  bool advance(std::uint64_t fingerprint) {
    const std::uint64_t room = channel_->room();
    if (room == 0) {
      return false;
    }
    const bool begins = !std::exchange(begun_, true);
    if (begins) {
      channel_->begin_message(fingerprint, out_.size(), busy_until_ + job_.options().latency, job_.options().phantom);
    }
    const std::uint64_t most = std::min<std::uint64_t>(out_.size() - written_, room);
    const std::uint64_t bytes = job_.draw_piece(most, written_ + most == out_.size());
    if (bytes == 0 && written_ < out_.size() && !begins) {
      return false;  // Room for less than a whole element.
    }
    channel_->write(job_.options().phantom ? std::span(out_.data(), bytes) : out_.subspan(written_, bytes));
    written_ += bytes;
    done_ = written_ == out_.size();
    if (job_.rank(to_).awaited.from == from_) {
      job_.scheduler().wake(to_);
    }
    return true;
  }

 private:
  SimulatedJob& job_;
  int from_;
  int to_;
  SimulatedChannel* channel_ = nullptr;
  std::span<const std::byte> out_;
  std::chrono::nanoseconds busy_until_{0};
  std::uint64_t written_ = 0;
  bool begun_ = false;
  bool done_;
};

class SimulationFabric::Incoming {
 public:
  Incoming(SimulatedJob& job, int to, const Transfer& transfer)
      : job_(job), from_(transfer.from), to_(to), transfer_(transfer), done_(from_ < 0) {
    if (!done_) {
      channel_ = &job.channel(from_, to_);
      announce(true);
    }
  }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  ~Incoming() {
    if (!done_) {
      announce(false);
    }
  }

  bool done() const { return done_; }
  int waits_from() const { return done_ ? -1 : from_; }
  std::chrono::nanoseconds arrival() const { return arrival_; }

  /// Whether anything moved.
  bool advance(const CallContext& context) {
    const SimulatedMessage* message = channel_->front();
    if (message == nullptr) {
      return false;
    }
    if (!opened_) {
      open(*message, context);
    }
    const std::uint64_t there = message->written - message->read;
    const std::uint64_t left = message->bytes - message->read;
    const std::uint64_t bytes = job_.draw_piece(there, there == left);
    if (bytes == 0 && left > 0) {
      return false;
    }
    if (!message->content.empty() && bytes > 0) {
      const std::byte* piece = message->content.data() + message->read;
      std::byte* into = transfer_.in.data() + message->read;
      transfer_.fold != nullptr ? transfer_.fold->function(into, piece, bytes)
                                : static_cast<void>(std::memcpy(into, piece, bytes));
    }
    arrival_ = message->arrival;
    channel_->read(bytes);
    if (message->read == message->bytes) {
      channel_->end_message();
      done_ = true;
      announce(false);
    }
    wake_sender();
    return true;
  }

 private:
  void open(const SimulatedMessage& message, const CallContext& context) {
    opened_ = true;
    if (message.fingerprint != context.fingerprint || !transfer_.takes(message.bytes)) {
      if (message.fingerprint == context.fingerprint)
        throw size_error(to_, from_, *job_.rank(from_).state, message.bytes, transfer_.in.size(), context);
      job_.refuse_foreign(to_, from_, {message.fingerprint, message.bytes}, context);
    }
    if (transfer_.arrived != nullptr) {
      *transfer_.arrived = message.bytes;
    }
  }
  void announce(bool waits) {
    channel_->set_receiver_waits(waits);
    wake_sender();  // At a rendezvous it may begin now.
  }
  void wake_sender() {
    if (job_.rank(from_).awaited.to == to_) {
      job_.scheduler().wake(from_);
    }
  }

  SimulatedJob& job_;
  int from_;
  int to_;
  SimulatedChannel* channel_ = nullptr;
  const Transfer& transfer_;
  std::chrono::nanoseconds arrival_{0};
  bool opened_ = false;
  bool done_;
};

SimulationFabric::SimulationFabric(SimulatedJob& job, int rank)
    : job_(job),
      rank_(rank),
      self_(job.rank(rank)),
      book_(*self_.state, *self_.ledger),
      waiting_(job, rank),
      window_(job, rank, waiting_, book_) {
  (void)Explanations::of_environment();  // Simulated ranks tell nothing, but what cannot be said is refused here, too.
}

void SimulationFabric::begin(CallContext& context) {
  if (const FirstError* error = job_.broken(context.communicator)) {
    heard_ = true;
    const bool first = !std::exchange(context.heard, true);
    if (first && job_.dead()) {
      throw lost_error(rank_, *job_.dead(), -1, fate(FailureKind::signal, SIGKILL), context);
    }
    throw broken_error(rank_, *error, first, context);
  }
  book_.begin(context);
}

void SimulationFabric::end(const CallContext&) noexcept { book_.end(); }

void SimulationFabric::transfer(const Transfer& transfer, CallContext& context) {
  waiting_.scheduling_point();
  ++self_.outcome.steps;
  Outgoing outgoing(job_, rank_, transfer);
  Incoming incoming(job_, rank_, transfer);
  while (true) {
    bool moved = false;
    if (!outgoing.done() && outgoing.advance(context.fingerprint)) {
      moved = true;
      if (outgoing.done()) {
        book_.charge_sent(transfer.out.size());
        ++self_.outcome.messages;
      }
    }
    if (!incoming.done() && incoming.advance(context)) {
      moved = true;
      if (incoming.done()) {
        book_.charge_received(transfer.received());
      }
    }
    if (outgoing.done() && incoming.done()) {
      break;
    }
    if (moved) {
      waiting_.scheduling_point();
    } else {
      waiting_.block({.from = incoming.waits_from(), .to = outgoing.waits_to()}, context);
    }
  }
  auto& clock = self_.outcome.clock;
  clock = std::max({clock, outgoing.busy_until(), incoming.arrival()});
}

void SimulationFabric::mark_broken(CallContext& context, const Error& error) noexcept {
  context.heard = true;
  heard_ = true;
  job_.set_broken(
      context.communicator,
      {.code = error.code(), .rank = rank_, .peer = world_rank(context, error.peer()), .text = error.what()});
  book_.end(true);
}

void SimulationFabric::leave() {
  if (heard_) return;
  CallContext context;
  const auto error = unfitting_call_error(rank_, job_.size(), job_.states(), context);
  if (!error) return;
  mark_broken(context, *error);
  throw Error(*error);
}

Traffic SimulationFabric::traffic() const { return read_ledger(*self_.ledger); }

}  // namespace shoal::detail
