#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <span>

namespace shoal::detail {

/// One of each rank, without an allocation where there are not many: a call of a few bytes takes less time than that.
template <class T>
using ByRank = boost::container::small_vector<T, 17>;

template <class T>
std::span<T> span_of(ByRank<T>& values) noexcept {
  return {values.data(), values.size()};
}

}  // namespace shoal::detail
