#include "shoal/runtime/session.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "heap.h"
#include "log_setup.h"
#include "mapping.h"
#include "process_namespace.h"
#include "shm_fabric.h"

// Attaching to a job, and leaving it.

namespace shoal {
namespace {

std::pair<JobSegment, int> membership_from_environment() {
  const char* reference = std::getenv("SHOAL_JOB");
  if (reference == nullptr) {
    return {JobSegment::create({.ranks = 1}), 0};
  }
  JobSegment segment = JobSegment::attach(reference);
  const char* text = std::getenv("SHOAL_RANK");
  const std::string_view view(text != nullptr ? text : "");
  int rank = -1;
  const auto [rest, error] = std::from_chars(view.data(), view.data() + view.size(), rank);
  if (error != std::errc{} || rest != view.data() + view.size() || rank < 0 || rank >= segment.ranks()) {
    throw Error(ErrorCode::system, fmt::format("SHOAL_RANK={} is not a rank of this job of {}", view, segment.ranks()));
  }
  return {std::move(segment), rank};
}

// A rank belongs to one process for the job's whole life: a second one would read and write the first one's channels.
void claim(const JobSegment& segment, int rank) {
  detail::RankState& state = segment.mapping().rank(rank);
  const auto self = static_cast<std::int32_t>(getpid());
  std::int32_t owner = 0;
  // Relaxed: the claim guards against a mistake; what the ranks share is ordered by the channels.
  if (!state.owner.compare_exchange_strong(owner, self, std::memory_order_relaxed) && owner != self) {
    throw Error(ErrorCode::system, fmt::format("rank {} of this job is taken already, by process {}", rank, owner));
  }
  if (state.phase.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(RankPhase::active)) {
    throw Error(ErrorCode::system, fmt::format("this process has a session as rank {} already", rank));
  }
  state.owner_namespace.store(detail::process_namespace(), std::memory_order_relaxed);
  state.phase.store(static_cast<std::uint32_t>(RankPhase::active), std::memory_order_release);
}

}  // namespace

struct Session::State {
  State(JobSegment job, int rank)
      : segment(std::move(job)), heap(segment.mapping().heap(rank), rank), fabric(segment, rank), world(fabric) {}

  JobSegment segment;
  detail::Heap heap;
  detail::ShmFabric fabric;
  Communicator world;
};

Session::Session() : Session(membership_from_environment()) {}

Session::Session(JobSegment segment, int rank) : Session(std::pair(std::move(segment), rank)) {}

Session::Session(std::pair<JobSegment, int>&& membership) {
  auto& [segment, rank] = membership;
  detail::make_rank_logger(rank);
  claim(segment, rank);
  state_ = std::make_unique<State>(std::move(segment), rank);
  log().debug("joined a job of {} as rank {}, process {}", state_->segment.ranks(), rank, getpid());
}

Session::~Session() noexcept(false) {
  log().debug("leaves, having sent {} and received {} bytes", world().traffic().sent, world().traffic().received);
  if (std::uncaught_exceptions() == 0) {
    state_->fabric.leave();
  } else {
    state_->segment.rank_ended(state_->world.rank());  // What is unread or unfitting now is that exception's doing.
  }
}

Communicator& Session::world() noexcept { return state_->world; }

std::pmr::memory_resource* Session::heap() noexcept { return &state_->heap; }

}  // namespace shoal
