#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "shoal/runtime/error.h"
#include "shoal/runtime/fabric.h"
#include "shoal/runtime/operation.h"
#include "shoal/runtime/traffic.h"

namespace shoal {

/// A group of ranks that make collective calls together. Each rank holds one object; all must make the same
/// calls in the same order. One thread at a time may use it.
///
/// Users call the functions of <shoal/shoal.h>; the byte-level members below are what algorithms are written in.
class Communicator {
 public:
  explicit Communicator(detail::Fabric& fabric);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// This rank's ledger, over all that it has moved since its session began.
  Traffic traffic() const;

  // ---- For algorithms: inside perform() only ----------------------------------------------------------

  /// Sends `out` to rank `to` and returns when it is in the channel (up to the channel's capacity, that is before
  /// the other side takes it). Counted as sent. `to` is another rank.
  void send(int to, std::span<const std::byte> out);
  /// Receives a message of exactly in.size() bytes from rank `from`.
  void recv(int from, std::span<std::byte> in);
  /// Both at once, advancing together: no message size deadlocks ranks that all exchange. `to` and `from` may
  /// be the same or different ranks, but not this one.
  void exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);
  /// As exchange, but what arrives is combined into `into` straight out of the channel. `out` and `into` must
  /// not overlap.
  void exchange_fold(int to, std::span<const std::byte> out, int from, std::span<std::byte> into, const Fold& fold);

  /// Runs one call: `body` moves the bytes with the members above. An Error thrown from it breaks the
  /// communicator. Messages of different calls never meet: each carries the call's fingerprint.
  /// `timeout`: waiting allowed in the call; none: SHOAL_TIMEOUT, or no limit.
  template <class Body>
  void perform(const Call& call, std::optional<std::chrono::milliseconds> timeout, Body&& body) {
    begin(call, timeout);
    try {
      std::forward<Body>(body)();
    } catch (const Error& error) {
      fail(error);
      throw;
    } catch (const std::exception& error) {  // Out of memory, say: the others must not wait for the rest of this call.
      fail(Error(ErrorCode::system, error.what()));
      throw;
    }
    end();
  }

  /// Breaks the communicator because this rank's caller made a mistake, and throws it:
  /// `rank 1: broadcast: root 7 is not a rank of this communicator (size 4)`.
  [[noreturn]] void refuse(const Call& call, const std::string& mistake);

 private:
  void begin(const Call& call, std::optional<std::chrono::milliseconds> timeout);
  void end() noexcept;
  void fail(const Error& error) noexcept;

  detail::Fabric* fabric_;
  int rank_;
  int size_;
  std::uint64_t sequence_ = 0;  // Collective calls begun; the same on every rank.
  std::optional<std::chrono::milliseconds> default_timeout_;
  detail::CallContext context_;
};

}  // namespace shoal
