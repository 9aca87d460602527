#include "shoal/runtime/traffic.h"

namespace shoal {
namespace {

std::map<std::string, TrafficCount> difference(const std::map<std::string, TrafficCount>& later,
                                               const std::map<std::string, TrafficCount>& earlier) {
  std::map<std::string, TrafficCount> result;
  for (const auto& [key, count] : later) {
    TrafficCount moved = count;
    if (const auto before = earlier.find(key); before != earlier.end()) {
      moved -= before->second;
    }
    if (moved != TrafficCount{}) {
      result.emplace(key, moved);
    }
  }
  return result;
}

}  // namespace

TrafficCount& TrafficCount::operator+=(const TrafficCount& other) {
  calls += other.calls;
  sent += other.sent;
  received += other.received;
  return *this;
}

TrafficCount& TrafficCount::operator-=(const TrafficCount& other) {
  calls -= other.calls;
  sent -= other.sent;
  received -= other.received;
  return *this;
}

Traffic operator-(const Traffic& later, const Traffic& earlier) {
  return {.sent = later.sent - earlier.sent,
          .received = later.received - earlier.received,
          .by_op = difference(later.by_op, earlier.by_op),
          .by_algorithm = difference(later.by_algorithm, earlier.by_algorithm)};
}

}  // namespace shoal
