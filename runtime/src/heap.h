#pragma once

#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace shoal::detail {

/// std::bad_alloc that says how much was asked for and how much there is.
class HeapExhausted : public std::bad_alloc {
 public:
  explicit HeapExhausted(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// One rank's arena of the shared heap. Only that rank allocates and frees in it, so nothing in it is locked, and a
/// rank that dies leaves no lock taken.
class Heap : public std::pmr::memory_resource {
 public:
  /// Takes over all of `arena`, whatever it holds.
  Heap(std::span<std::byte> arena, int rank);

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  using Manager = boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family>;

  Manager* manager_;  // Lives at the arena's start.
  int rank_;
};

}  // namespace shoal::detail
