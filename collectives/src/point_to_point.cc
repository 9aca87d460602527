#include "shoal/collectives/point_to_point.h"

#include "arguments.h"
#include "scratch.h"

namespace shoal::detail {
namespace {

std::size_t elements_of(std::span<const std::byte> bytes, DataType type) { return elements_in(bytes.size(), type); }

/// `peer`, the argument of that name, is another rank.
void check_other(Communicator& comm, const Call& call, std::string_view argument, int peer) {
  check_peer(comm, call, argument, peer);
  if (peer == comm.rank())
    comm.refuse(call, std::string(argument) + ' ' + std::to_string(peer) +
                          " is this rank itself: a message to oneself would wait for ever");
}

}  // namespace

void send(Communicator& comm, std::span<const std::byte> out, DataType type, int to) {
  const Call call{.operation = Operation::send, .type = type, .count = elements_of(out, type), .steps = 1};
  check_other(comm, call, "to", to);
  comm.perform(call, std::nullopt, [&] { comm.send(to, out); });
}

void recv(Communicator& comm, std::span<std::byte> in, DataType type, int from) {
  const Call call{.operation = Operation::recv, .type = type, .count = elements_of(in, type), .steps = 1};
  check_other(comm, call, "from", from);
  comm.perform(call, std::nullopt, [&] { comm.recv(from, in); });
}

void exchange(Communicator& comm, std::span<const std::byte> out, int to, std::span<std::byte> in, int from,
              DataType type) {
  Call call{.operation = Operation::exchange, .type = type, .count = elements_of(out, type)};
  check_peer(comm, call, "to", to);
  check_peer(comm, call, "from", from);
  check_apart(comm, call, in, out);
  if ((to == comm.rank()) != (from == comm.rank()))
    comm.refuse(call, "to is rank " + std::to_string(to) + " and from is rank " + std::to_string(from) +
                          ": only both or neither can be this rank itself");
  if (to == comm.rank()) {
    check_elements(comm, call, "in", in, elements_of(out, type), "it receives what this rank sends to itself");
    comm.perform(call, std::nullopt, [&] { copy_bytes(comm, out, in); });
    return;
  }
  call.steps = 1;
  comm.perform(call, std::nullopt, [&] { comm.exchange(to, out, from, in); });
}

}  // namespace shoal::detail
