#pragma once

#include <cstddef>
#include <span>

#include "shoal/collectives/element.h"
#include "shoal/runtime/communicator.h"

namespace shoal {
namespace detail {
void send(Communicator& comm, std::span<const std::byte> out, DataType type, int to);
void recv(Communicator& comm, std::span<std::byte> in, DataType type, int from);
void exchange(Communicator& comm, std::span<const std::byte> out, int to, std::span<std::byte> in, int from,
              DataType type);
}  // namespace detail

// Errors and costs of all three are as Options says of operations, with these differences: there are no Options, and so
// the time allowed is SHOAL_TIMEOUT's, or no limit; and of two ends only element type and size must fit, a `mismatch`
// if they do not, which gives both ranks' calls and bytes. `invalid_argument` for a `to` or `from` that is no rank.

/// Sends `out` to rank `to`, which must call recv, or receive by an exchange, with the same size and type. Returns once
/// all of it is in the channel, so a message larger than the channel waits for its receiver: two ranks that both send
/// such a message first wait for ever (until the timeout); use exchange for that. `invalid_argument` for a `to` that is
/// this rank itself.
///
/// Cost: one step, one message; sends the size of `out` in bytes.
template <InputRange Out>
void send(Communicator& comm, const Out& out, int to) {
  detail::send(comm, detail::input_bytes(out), kDataType<ElementOf<Out>>, to);
}

/// Receives what rank `from` sends with send or exchange, of exactly this size and type. Waits for it as long as the
/// timeout allows: two ranks that both receive from each other first wait for ever. `invalid_argument` for a `from`
/// that is this rank itself.
///
/// Cost: one step; receives the size of `in` in bytes.
template <OutputRange In>
void recv(Communicator& comm, In&& in, int from) {
  detail::recv(comm, detail::output_bytes(in), kDataType<ElementOf<In>>, from);
}

/// Sends `out` to rank `to` and receives `in` from rank `from`, as a send and a recv at once: the other ranks may call
/// exchange too, or recv and send. Both directions advance together, so no size deadlocks ranks that all exchange. With
/// `to` and `from` both this rank it copies. `invalid_argument` where only one of them is this rank, where it copies
/// between different sizes, and for `out` and `in` that overlap.
///
/// Cost: one step, one message; sends the size of `out` in bytes and receives that of `in`. A copy counts none.
template <InputRange Out, OutputRange In>
requires SameElement<Out, In>
void exchange(Communicator& comm, const Out& out, int to, In&& in, int from) {
  detail::exchange(comm, detail::input_bytes(out), to, detail::output_bytes(in), from, kDataType<ElementOf<Out>>);
}

}  // namespace shoal
