#include "train/agreement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <string>

#include "program/program.h"

namespace shoal::train {

void together(Communicator& comm, const std::function<void()>& part) {
  std::string error;
  bool failed = false;
  try {
    part();
  } catch (const Error&) {
    throw;  // Of a collective: the communicator is broken, and all know it.
  } catch (const std::exception& exception) {
    failed = true;
    error = exception.what();
  }
  std::int64_t lowest = failed ? comm.rank() : comm.size();
  all_reduce(comm, std::span(&lowest, 1), ReduceOp::min);
  if (lowest == comm.size()) return;
  std::array<std::uint8_t, 1024> text{};
  std::copy_n(error.begin(), std::min(error.size(), text.size()), text.begin());
  broadcast(comm, text, static_cast<int>(lowest));
  throw AgreedError(std::string(text.begin(), std::find(text.begin(), text.end(), std::uint8_t{0})));
}

}  // namespace shoal::train
