// A signal's handler has nothing but what is static: the one mapping that it looks after.
#include "cut_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>

namespace shoal::detail {
namespace {

struct Survivor {
  std::atomic<std::byte*> memory{nullptr};
  std::atomic<std::size_t> bytes{0};
  std::atomic<bool> cut{false};
};
constinit Survivor survivor;

// The instruction that failed is repeated when this returns.
void put_zeros(int signal, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  std::byte* const memory = survivor.memory.load();
  const std::size_t bytes = survivor.bytes.load();
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  const bool ours = memory != nullptr && at >= memory && at < memory + bytes;
  constexpr int kZeros = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (ours && ::mmap(memory, bytes, PROT_READ | PROT_WRITE, kZeros, -1, 0) != MAP_FAILED) {
    survivor.cut.store(true);
  } else {
    std::signal(signal, SIG_DFL);
  }
  errno = error;
}

}  // namespace

void survive_cuts(std::byte* memory, std::size_t bytes) noexcept {
  survivor.memory.store(memory);
  survivor.bytes.store(bytes);
  survivor.cut.store(false);
  struct sigaction action {};
  action.sa_sigaction = put_zeros;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

bool cut_was_survived(const std::byte* memory) noexcept {
  return survivor.memory.load() == memory && survivor.cut.load();
}

void forget_cuts(const std::byte* memory) noexcept {
  if (survivor.memory.load() == memory) survivor.memory.store(nullptr);
}

}  // namespace shoal::detail
