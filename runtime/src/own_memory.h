#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mapping.h"

// Memory of a rank's own, out of which other ranks copy, and into it: by the kernel (process_vm_readv and
// process_vm_writev, which take the same rights), in one copy, where it lets them. Whether it does depends on both
// processes (users, namespaces, containers, Yama), so each tries with each other, once, on a word that the other has
// put out for it, and writes down in the segment whether it worked.

namespace shoal::detail {

class OwnMemory {
 public:
  /// Puts out the word, and lets the job's other processes read it as far as that is this process's to decide.
  OwnMemory(const JobSegment::Mapping& mapping, int rank);
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory();

  /// Finds out whether this rank can copy from `peer`, unless that is known, or the peer not there yet.
  void try_to_copy(int peer);
  /// Whether `peer` has found that it can copy from this rank.
  bool copied_by(int peer) const;

  /// Copies from, or to, `address` in that rank's memory. Returns 0 or the error's number: ESRCH, where its process is
  /// gone.
  int copy_from(int peer, std::uint64_t address, std::span<std::byte> to) const;
  int copy_to(int peer, std::uint64_t address, std::span<const std::byte> from) const;

 private:
  const JobSegment::Mapping& mapping_;
  int rank_;
  std::uint64_t word_;  // What others try to read.
};

}  // namespace shoal::detail
