#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

// A strided view as a user may have written one: what must not compile as an argument, and its twin, which must.

namespace shoal::test {

/// Goes through every `Step`th element in memory: at random, and contiguous where Step is 1.
template <class T, int Step>
class Stepping {
 public:
  using iterator_concept = std::conditional_t<Step == 1, std::contiguous_iterator_tag, std::random_access_iterator_tag>;
  using iterator_category = std::random_access_iterator_tag;
  using element_type = T;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T&;

  Stepping() = default;
  explicit Stepping(T* at) : at_(at) {}

  T& operator*() const { return *at_; }
  T* operator->() const { return at_; }
  T& operator[](std::ptrdiff_t n) const { return at_[n * Step]; }
  Stepping& operator++() { return *this += 1; }
  Stepping operator++(int) { return Stepping(std::exchange(at_, at_ + Step)); }
  Stepping& operator--() { return *this -= 1; }
  Stepping operator--(int) { return Stepping(std::exchange(at_, at_ - Step)); }
  Stepping& operator+=(std::ptrdiff_t n) {
    at_ += n * Step;
    return *this;
  }
  Stepping& operator-=(std::ptrdiff_t n) { return *this += -n; }
  friend Stepping operator+(Stepping at, std::ptrdiff_t n) { return at += n; }
  friend Stepping operator+(std::ptrdiff_t n, Stepping at) { return at += n; }
  friend Stepping operator-(Stepping at, std::ptrdiff_t n) { return at -= n; }
  friend std::ptrdiff_t operator-(Stepping one, Stepping other) { return (one.at_ - other.at_) / Step; }
  friend auto operator<=>(Stepping, Stepping) = default;

 private:
  T* at_ = nullptr;
};

/// Every `Step`th of some floats: a random-access view, sized and borrowed.
template <int Step>
class Every : public std::ranges::view_base {
 public:
  Every() = default;
  explicit Every(std::span<float> values) : values_(values) {}

  Stepping<float, Step> begin() const { return Stepping<float, Step>(values_.data()); }
  Stepping<float, Step> end() const { return begin() + static_cast<std::ptrdiff_t>(values_.size() / Step); }

 private:
  std::span<float> values_;
};

}  // namespace shoal::test

template <int Step>
inline constexpr bool std::ranges::enable_borrowed_range<shoal::test::Every<Step>> = true;
