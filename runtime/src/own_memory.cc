#include "own_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "process_namespace.h"

namespace shoal::detail {
namespace {

/// Known to this rank and to who reads it in the right process alone: a number is not a process's for ever.
std::uint64_t word_of(int rank, std::int32_t process) {
  return kMagic ^ static_cast<std::uint64_t>(rank) << 32 ^ static_cast<std::uint32_t>(process);
}

// The kernel moves at most 2 GiB at once.
int copy_all(decltype(process_vm_readv)* copy, pid_t process, std::span<std::byte> own, std::uint64_t address) {
  while (!own.empty()) {
    const iovec local{own.data(), own.size()};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process, which nothing here may follow.
    const iovec remote{reinterpret_cast<void*>(address), own.size()};
    const ssize_t copied = copy(process, &local, 1, &remote, 1, 0);
    if (copied <= 0) return copied == 0 ? EFAULT : errno;
    address += static_cast<std::uint64_t>(copied);
    own = own.subspan(static_cast<std::size_t>(copied));
  }
  return 0;
}

}  // namespace

OwnMemory::OwnMemory(const JobSegment::Mapping& mapping, int rank)
    : mapping_(mapping), rank_(rank), word_(word_of(rank, getpid())) {
  // Yama lets a process be read by its ancestors; the job's other ranks are descendants of this one's parent, as a
  // rule.
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()), 0, 0, 0);
  // Pairs with the acquire in try_to_copy.
  mapping_.rank(rank).word.store(reinterpret_cast<std::uintptr_t>(&word_), std::memory_order_release);
}

OwnMemory::~OwnMemory() { mapping_.rank(rank_).word.store(0, std::memory_order_relaxed); }

void OwnMemory::try_to_copy(int peer) {
  std::atomic<std::uint8_t>& copies = mapping_.copies(rank_, peer);
  if (copies.load(std::memory_order_relaxed) != static_cast<std::uint8_t>(Copies::untried)) return;
  const RankState& theirs = mapping_.rank(peer);
  const std::uint64_t address = theirs.word.load(std::memory_order_acquire);
  if (address == 0) return;
  std::uint64_t word = 0;
  const bool same_namespace = theirs.owner_namespace.load(std::memory_order_relaxed) == process_namespace();
  const bool works = same_namespace && copy_from(peer, address, std::as_writable_bytes(std::span(&word, 1))) == 0 &&
                     word == word_of(peer, theirs.owner.load(std::memory_order_relaxed));
  copies.store(static_cast<std::uint8_t>(works ? Copies::yes : Copies::no), std::memory_order_release);
}

bool OwnMemory::copied_by(int peer) const {
  return mapping_.copies(peer, rank_).load(std::memory_order_acquire) == static_cast<std::uint8_t>(Copies::yes);
}

int OwnMemory::copy_from(int peer, std::uint64_t address, std::span<std::byte> to) const {
  return copy_all(process_vm_readv, mapping_.rank(peer).owner.load(std::memory_order_relaxed), to, address);
}

int OwnMemory::copy_to(int peer, std::uint64_t address, std::span<const std::byte> from) const {
  // An iovec has no const; the kernel does not write there.
  const std::span<std::byte> own(const_cast<std::byte*>(from.data()), from.size());
  return copy_all(process_vm_writev, mapping_.rank(peer).owner.load(std::memory_order_relaxed), own, address);
}

}  // namespace shoal::detail
