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

/// Sends `out` to rank `to`, which must call recv, or receive by an exchange, with the same size and type. Returns once all of it is in the
/// channel, so a message larger than the channel waits for its receiver: two ranks that both send such a message
/// first wait for ever (until the timeout); use exchange for that. Sending to oneself is refused.
template <InputRange Out>
void send(Communicator& comm, const Out& out, int to) {
  detail::send(comm, detail::input_bytes(out), kDataType<ElementOf<Out>>, to);
}

/// Receives what rank `from` sends with send or exchange, of exactly this size and type.
template <OutputRange In>
void recv(Communicator& comm, In&& in, int from) {
  detail::recv(comm, detail::output_bytes(in), kDataType<ElementOf<In>>, from);
}

/// Sends `out` to rank `to` and receives `in` from rank `from`, as a send and a recv at once: the other ranks may call
/// exchange too, or recv and send. Both directions advance together, so no size deadlocks ranks that all exchange. With `to` and `from` both this rank it copies, and counts no bytes. `out` and
/// `in` do not overlap.
template <InputRange Out, OutputRange In>
requires SameElement<Out, In>
void exchange(Communicator& comm, const Out& out, int to, In&& in, int from) {
  detail::exchange(comm, detail::input_bytes(out), to, detail::output_bytes(in), from, kDataType<ElementOf<Out>>);
}

}  // namespace shoal
