#include "arguments.h"

#include <functional>
#include <limits>

#include "kernels.h"

namespace shoal::detail {
namespace {

std::string size_text(const Communicator& comm) { return " (size " + std::to_string(comm.size()) + ")"; }

std::string elements_text(std::size_t elements) {
  return std::to_string(elements) + (elements == 1 ? " element" : " elements");
}

void check_entries(Communicator& comm, const Call& call, std::string_view argument,
                   std::span<const std::size_t> counts) {
  if (counts.size() != static_cast<std::size_t>(comm.size()))
    comm.refuse(call, std::string(argument) + " has " + std::to_string(counts.size()) +
                          (counts.size() == 1 ? " entry" : " entries") + ", not " + std::to_string(comm.size()) +
                          ": one for each rank");
}

}  // namespace

void check_root(Communicator& comm, const Call& call) {
  if (call.root < 0 || call.root >= comm.size())
    comm.refuse(call, "root " + std::to_string(call.root) + " is not a rank of this communicator" + size_text(comm));
}

void check_peer(Communicator& comm, const Call& call, std::string_view argument, int peer) {
  if (peer < 0 || peer >= comm.size())
    comm.refuse(call, std::string(argument) + ' ' + std::to_string(peer) + " is not a rank of this communicator" +
                          size_text(comm));
}

void check_elements(Communicator& comm, const Call& call, std::string_view argument, std::span<const std::byte> bytes,
                    std::size_t expected, std::string_view reason) {
  const std::size_t elements = elements_in(bytes.size(), call.type);
  if (elements != expected)
    comm.refuse(call, std::string(argument) + " has " + elements_text(elements) + ", not " + std::to_string(expected) +
                          ": " + std::string(reason));
}

void check_empty_off_root(Communicator& comm, const Call& call, std::string_view argument,
                          std::span<const std::byte> bytes) {
  if (!bytes.empty())
    comm.refuse(call, std::string(argument) + " has " + elements_text(elements_in(bytes.size(), call.type)) +
                          ", not 0: it is used at the root only, which is rank " + std::to_string(call.root));
}

void check_counts(Communicator& comm, const Call& call, std::string_view argument, std::span<const std::size_t> counts,
                  std::string_view buffer, std::span<const std::byte> bytes) {
  check_entries(comm, call, argument, counts);
  const std::size_t elements = elements_in(bytes.size(), call.type);
  std::size_t sum = 0;
  for (const std::size_t count : counts) {
    if (count > std::numeric_limits<std::size_t>::max() - sum)
      comm.refuse(call, std::string(argument) + " adds up to more than 64 bits hold, but " + std::string(buffer) +
                            " has " + elements_text(elements));
    sum += count;
  }
  if (sum != elements)
    comm.refuse(call, std::string(argument) + " adds up to " + std::to_string(sum) + ", but " + std::string(buffer) +
                          " has " + elements_text(elements));
}

void check_own_count(Communicator& comm, const Call& call, std::string_view buffer, std::span<const std::byte> bytes,
                     std::string_view argument, std::span<const std::size_t> counts) {
  check_entries(comm, call, argument, counts);
  check_elements(comm, call, buffer, bytes, counts[static_cast<std::size_t>(comm.rank())],
                 "this rank's entry of " + std::string(argument));
}

void check_apart(Communicator& comm, const Call& call, std::span<const std::byte> in, std::span<const std::byte> out) {
  if (overlap(in, out)) comm.refuse(call, "in and out overlap");
}

void check_reduction(Communicator& comm, const Call& call) {
  if (!is_defined(call.reduce_op, call.type))
    comm.refuse(
        call, "reduction " + std::string(name(call.reduce_op)) + " is not defined for " + std::string(name(call.type)));
}

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  if (one.empty() || other.empty()) return false;
  // std::less orders pointers into different objects too.
  const std::less<> before;
  return before(one.data(), other.data() + other.size()) && before(other.data(), one.data() + one.size());
}

}  // namespace shoal::detail
