#pragma once

#include <stdexcept>

namespace shoal::plan {

/// A plan that cannot be; what() names the value at fault.
class PlanError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace shoal::plan
