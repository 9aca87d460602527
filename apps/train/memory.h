#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace shoal::train {

/// What memory of a rank's training is for; the columns of the report.
enum class MemoryUse : std::size_t { parameter, gradient, optimizer, scratch };
inline constexpr std::size_t kMemoryUses = 4;

/// Takes memory from another resource, aligned for vectors, and keeps count of it.
class AccountedMemory : public std::pmr::memory_resource {
 public:
  explicit AccountedMemory(std::pmr::memory_resource& upstream = *std::pmr::new_delete_resource())
      : upstream_(&upstream) {}

  std::uint64_t bytes() const { return bytes_; }
  /// The most that was held at once.
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  /// Requests served since the start.
  std::uint64_t allocations() const { return allocations_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::pmr::memory_resource* upstream_;
  std::uint64_t bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t allocations_ = 0;
};

/// One account for each use. Must outlive what was allocated from it.
class MemoryAccounts {
 public:
  MemoryAccounts() = default;
  /// Parameters, gradients and the optimizer's state are taken from `shared`, which ranks can read of each other.
  explicit MemoryAccounts(std::pmr::memory_resource& shared)
      : accounts_{AccountedMemory(shared), AccountedMemory(shared), AccountedMemory(shared), AccountedMemory()},
        shared_scratch_(shared) {}

  /// Scratch that ranks can read of each other.
  AccountedMemory& shared_scratch() { return shared_scratch_; }

  /// The most that was held at once of a use; of scratch, shared or not.
  std::uint64_t peak_bytes(MemoryUse use) const {
    return (*this)[use].peak_bytes() + (use == MemoryUse::scratch ? shared_scratch_.peak_bytes() : 0);
  }

  AccountedMemory& operator[](MemoryUse use) { return accounts_[static_cast<std::size_t>(use)]; }
  const AccountedMemory& operator[](MemoryUse use) const { return accounts_[static_cast<std::size_t>(use)]; }

 private:
  std::array<AccountedMemory, kMemoryUses> accounts_;
  AccountedMemory shared_scratch_;
};

using Floats = std::pmr::vector<float>;

}  // namespace shoal::train
