#include "bench/bench.h"

#include <algorithm>
#include <array>
#include <memory_resource>
#include <new>
#include <span>
#include <stdexcept>
#include <string>

#include "bench/check.h"
#include "bench/operations.h"
#include "calls/with_type.h"
#include "program/program.h"
#include "shoal/runtime/units.h"

namespace shoal::bench {
namespace {

/// Memory of one rank for all rows, every byte written once before it is used.
class Buffer {
 public:
  Buffer(std::pmr::memory_resource& memory, std::size_t bytes)
      : memory_(memory), bytes_(bytes), content_(bytes == 0 ? nullptr : memory.allocate(bytes)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (content_ != nullptr) memory_.deallocate(content_, bytes_);
  }

  template <class T>
  std::span<T> first(std::uint64_t count) const {
    return {static_cast<T*>(content_), static_cast<std::size_t>(count)};
  }

 private:
  std::pmr::memory_resource& memory_;
  std::size_t bytes_;
  void* content_;
};

struct Buffers {
  Buffers(std::pmr::memory_resource& memory, const Plan& plan)
      : in(memory, plan.in_bytes), out(memory, plan.out_bytes) {}

  Buffer in;
  Buffer out;
};

std::string text_of(const Row& row) {
  std::string text = std::string(name(row.call.operation)) + " of " + std::to_string(row.bytes) + " bytes (" +
                     std::string(name(row.algorithm));
  if (has_data(row.call.operation)) text += ", " + std::string(name(row.call.type));
  if (reduces(row.call.operation)) text += ' ' + std::string(name(row.call.reduce_op));
  return text + ')';
}

/// Every rank's value, on all of them.
std::vector<std::uint64_t> of_all_ranks(Communicator& comm, std::uint64_t value) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()));
  all_gather(comm, std::array{value}, all);
  return all;
}

template <class T>
Row measure(Communicator& comm, const BenchOptions& options, const PlannedRow& planned, const Buffers& buffers) {
  Row row{.call = planned.call, .bytes = planned.bytes, .times = {}, .sent = {}, .checked = options.check};
  const calls::BufferSizes sizes = calls::buffer_sizes(row.call, comm.size(), comm.rank());
  const std::span<T> in = buffers.in.first<T>(sizes.in);
  const std::span<T> out = buffers.out.first<T>(sizes.out);
  const auto call = [&] { calls::make_call(comm, row.call, in, out); };

  const CheckedBuffers<T> checked(row.call, comm.size(), comm.rank(), in, out);
  if (options.check) checked.prepare();
  const Traffic before = comm.traffic();
  call();
  const Traffic moved = comm.traffic() - before;
  row.algorithm = calls::algorithm_in(moved, row.call.operation);
  if (options.check) {
    if (const auto wrong = checked.first_wrong(row.algorithm))
      throw std::runtime_error(text_of(row) + ": wrong on rank " + std::to_string(comm.rank()) + ": " + wrong->buffer +
                               '[' + std::to_string(wrong->index) + "] is " + wrong->got + ", not " + wrong->expected);
  }

  std::ranges::fill(in, static_cast<T>(1));
  std::ranges::fill(out, T{});
  const auto slowest = [&](double seconds) {
    std::array<double, 1> most{seconds};
    all_reduce(comm, most, ReduceOp::max);
    return most[0];
  };
  row.times = time_calls(
      planned.bytes, options.seconds, call, [&] { barrier(comm); }, slowest);
  row.sent = of_all_ranks(comm, moved.sent);
  return row;
}

/// All ranks ask for the same, and have heaps of the same size, so that they find alike that it is too small.
Buffers allocated(Session& session, const BenchOptions& options, const Plan& plan) {
  if (options.memory == Memory::private_) return {*std::pmr::new_delete_resource(), plan};
  try {
    return {*session.heap(), plan};
  } catch (const std::bad_alloc& error) {
    throw UsageError("--memory heap: the buffers take " + std::to_string(plan.in_bytes) + " + " +
                     std::to_string(plan.out_bytes) + " bytes a rank (" + format_bytes(plan.in_bytes + plan.out_bytes) +
                     "): " + error.what());
  }
}

}  // namespace

void run_plan(Session& session, const BenchOptions& options, const Plan& plan,
              const std::function<void(const Row&)>& tell) {
  const Buffers buffers = allocated(session, options, plan);
  calls::with_type(options.type, [&]<class T>() {
    for (const PlannedRow& row : plan.rows) tell(measure<T>(session.world(), options, row, buffers));
  });
}

}  // namespace shoal::bench
