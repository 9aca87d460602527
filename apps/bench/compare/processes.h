#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

// What programs of forked processes that are measured against each other need of the machine: cores and memory.

namespace shoal::bench {

inline std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

inline void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Zeros, which processes forked from now on share, or (MAP_PRIVATE) have each for themselves at the same address.
template <class T>
T* map_memory(std::size_t count, int sharing = MAP_SHARED) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

}  // namespace shoal::bench
