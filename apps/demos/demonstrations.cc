// The demonstrations of "nccl in 500 LOCs" (FateScript/experiments, se/mpi/mpi.py), input for input and line for
// line, at any number of ranks. Two of its lines hold at more than one rank only and are mended here for one:
// the reduced chunk of a world of one is the vector itself, not a list that holds it, and a mean is a float.
#include "demos/demonstrations.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "demos/python_text.h"
#include "shoal/shoal.h"

namespace shoal::demos {
namespace {

using Lines = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

/// {first, first + step, ...}
Integers numbers(std::size_t count, std::int64_t first, std::int64_t step = 1) {
  Integers values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<std::int64_t>(i);
  return values;
}

std::size_t world_size(const Communicator& comm) { return static_cast<std::size_t>(comm.size()); }
std::int64_t tens(const Communicator& comm) { return std::int64_t{10} * comm.rank(); }

/// What a rank says about one collective: what it had and what it got. An absent vector is Python's None: a rank
/// that has no part in that side of the collective.
template <class In, class Out>
Lines told(const Communicator& comm, const std::string& title, const std::optional<std::vector<In>>& before,
           const std::optional<std::vector<Out>>& after) {
  const auto text = [](const auto& values) {
    return values ? python_text(std::span(std::as_const(*values))) : std::string("None");
  };
  const std::string who = "Rank " + std::to_string(comm.rank());
  Lines lines;
  if (comm.rank() == 0) lines = {"", "Test " + title};
  lines.push_back(who + " previous data: " + text(before));
  lines.push_back(who + " data: " + text(after));
  return lines;
}

template <class T>
std::optional<std::vector<T>> only_on(int root, const Communicator& comm, const std::vector<T>& values) {
  return comm.rank() == root ? std::optional(values) : std::nullopt;
}

Lines show_barrier(Communicator& comm) {
  barrier(comm);
  const std::string line =
      "Rank " + std::to_string(comm.rank()) + " left the barrier that all " + std::to_string(comm.size()) + " entered";
  return comm.rank() == 0 ? Lines{"", "Test barrier", line} : Lines{line};
}

Lines show_gather(Communicator& comm) {
  constexpr int kRoot = 0;
  const Integers data = numbers(4, tens(comm));
  Integers gathered(comm.rank() == kRoot ? data.size() * world_size(comm) : 0);
  gather(comm, data, gathered, kRoot);
  return told(comm, "gather", std::optional(data), only_on(kRoot, comm, gathered));
}

Lines show_scatter(Communicator& comm) {
  constexpr int kRoot = 0;
  const auto data = only_on(kRoot, comm, numbers(world_size(comm), 0, 10));
  Integers part(1);
  scatter_cyclic(comm, data.value_or(Integers{}), part, kRoot);
  return told(comm, "scatter", data, std::optional(part));
}

Lines show_broadcast(Communicator& comm) {
  const int root = 1 % comm.size();
  const auto before = only_on(root, comm, numbers(world_size(comm), 0, 10));
  Integers data = before.value_or(Integers(world_size(comm)));
  broadcast(comm, data, root);
  return told(comm, "broadcast", before, std::optional(data));
}

Lines show_all_to_all(Communicator& comm) {
  const Integers data = numbers(2 * world_size(comm), tens(comm));
  Integers received(data.size());
  all_to_all(comm, data, received);
  return told(comm, "all to all", std::optional(data), std::optional(received));
}

Lines show_all_gather(Communicator& comm) {
  const Integers data = numbers(4, tens(comm));
  Integers gathered(data.size() * world_size(comm));
  all_gather(comm, data, gathered);
  return told(comm, "all gather", std::optional(data), std::optional(gathered));
}

Lines show_reduce_scatter(Communicator& comm) {
  const Integers data = numbers(2 * world_size(comm), tens(comm));
  Integers chunk(2);
  reduce_scatter(comm, data, chunk, ReduceOp::sum);
  return told(comm, "reduce scatter", std::optional(data), std::optional(chunk));
}

Lines show_all_reduce(Communicator& comm) {
  const Integers data = numbers(2 * world_size(comm), tens(comm));
  std::vector<double> mean(data.begin(), data.end());
  all_reduce(comm, mean, ReduceOp::mean);
  return told(comm, "all reduce", std::optional(data), std::optional(mean));
}

Lines show_reduce(Communicator& comm) {
  constexpr int kRoot = 0;
  const Integers data = numbers(2 * world_size(comm), tens(comm));
  Integers sum(comm.rank() == kRoot ? data.size() : 0);
  reduce(comm, data, sum, ReduceOp::sum, kRoot);
  return told(comm, "reduce", std::optional(data), only_on(kRoot, comm, sum));
}

constexpr std::array kDemonstrations{
    Demonstration{"barrier", show_barrier},
    Demonstration{"gather", show_gather},
    Demonstration{"scatter", show_scatter},
    Demonstration{"broadcast", show_broadcast},
    Demonstration{"all_to_all", show_all_to_all},
    Demonstration{"all_gather", show_all_gather},
    Demonstration{"reduce_scatter", show_reduce_scatter},
    Demonstration{"all_reduce", show_all_reduce},
    Demonstration{"reduce", show_reduce},
};

}  // namespace

std::span<const Demonstration> demonstrations() { return kDemonstrations; }

}  // namespace shoal::demos
