#include "support/call_spec.h"

#include <sstream>

#include "selection.h"

namespace shoal::test {

std::string text_of(const CallSpec& spec) {
  std::ostringstream text;
  text << name(spec.operation) << " by " << name(spec.algorithm) << " of " << spec.count << ' ' << name(spec.type);
  if (has_root(spec.operation)) text << ", root " << spec.root;
  if (reduces(spec.operation)) text << ", " << name(spec.reduce_op);
  if (spec.in_place) text << ", in place";
  return text.str();
}

std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (std::size_t index = 0; index < kOperationCount; ++index)
    if (!detail::algorithms_of(static_cast<Operation>(index)).empty()) all.push_back(static_cast<Operation>(index));
  return all;
}

bool has_root(Operation operation) {
  switch (operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::gather:
    case Operation::gather_v:
    case Operation::scatter:
    case Operation::scatter_v:
    case Operation::scatter_cyclic:
      return true;
    default:
      return false;
  }
}

}  // namespace shoal::test
