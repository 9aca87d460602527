#include "shoal/runtime/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "call_book.h"
#include "simulated_job.h"
#include "simulation_fabric.h"

namespace shoal {
namespace {

void run_rank(detail::SimulatedJob& job, int rank, const std::function<void(Communicator&)>& body) {
  SimulatedRank& outcome = job.rank(rank).outcome;
  try {
    detail::SimulationFabric fabric(job, rank);
    Communicator world(fabric);
    body(world);
    fabric.leave();
  } catch (const Error& error) {
    outcome.error_code = error.code();
    outcome.error = error.what();
  } catch (const std::exception& error) {
    outcome.error = error.what();
  } catch (const detail::SimulatedDeath&) {
    outcome.error = fmt::format("rank {} died at its scheduling point {}", rank, outcome.scheduling_points);
  } catch (...) {
    outcome.error = fmt::format("rank {}: something that is no std::exception left the body", rank);
  }
  outcome.traffic = detail::read_ledger(*job.rank(rank).ledger);
  job.finish(rank);
}

void check(const SimulationOptions& options) {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error(ErrorCode::invalid_argument, "simulate: " + what);
  };
  constexpr std::size_t kLeastStack = std::size_t{16} << 10;
  require(options.stack_bytes >= kLeastStack,
          fmt::format("stack_bytes {}: a rank takes at least {}", options.stack_bytes, kLeastStack));
  require(options.staging_bytes <= detail::kStagingBytes,
          fmt::format("staging_bytes {}: it is at most {}", options.staging_bytes, detail::kStagingBytes));
  require(options.bytes_per_second > 0, fmt::format("bytes_per_second {}: it is above 0", options.bytes_per_second));
  require(options.latency.count() >= 0, fmt::format("latency {} ns: it is 0 or more", options.latency.count()));
  require(!options.death || options.death->point >= 1, "death.point 0: points are counted from 1");
}

}  // namespace

bool SimulationResult::ok() const {
  return std::ranges::all_of(ranks, [](const SimulatedRank& rank) { return rank.error.empty(); });
}

std::chrono::nanoseconds SimulationResult::time() const {
  std::chrono::nanoseconds latest{0};
  for (const SimulatedRank& rank : ranks) {
    latest = std::max(latest, rank.clock);
  }
  return latest;
}

std::ostream& operator<<(std::ostream& out, const SimulationResult& result) {
  out << fmt::format("simulation of {} ranks, seed {}, channels of {} bytes: {}", result.ranks.size(),
                     result.options.seed, result.options.channel_bytes, result.ok() ? "ok" : "failed");
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    if (!result.ranks[rank].error.empty()) {
      out << fmt::format("\n  rank {}: {}", rank, result.ranks[rank].error);
    }
  }
  return out;
}

SimulationResult simulate(int ranks, const std::function<void(Communicator&)>& body, const SimulationOptions& options) {
  if (ranks < 1) {
    throw Error(ErrorCode::invalid_argument, fmt::format("simulate: {} ranks: a world has at least 1", ranks));
  }
  if (options.death && (options.death->rank < 0 || options.death->rank >= ranks)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("simulate: rank {} that is to die is none of the {}", options.death->rank, ranks));
  }
  check(options);
  detail::SimulatedJob job(ranks, options);
  job.scheduler().run([&](int rank) { run_rank(job, rank, body); }, [&] { job.resolve_standstill(); });
  SimulationResult result{.options = options, .ranks = {}, .deadlock = job.deadlock()};
  result.ranks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    result.ranks.push_back(std::move(job.rank(rank).outcome));
  }
  if (const auto unread = job.find_unread(); unread && result.ok()) {
    SimulatedRank& receiver = result.ranks[static_cast<std::size_t>(unread->receiver)];
    receiver.error_code = unread->error.code();
    receiver.error = unread->error.what();
  }
  return result;
}

}  // namespace shoal
