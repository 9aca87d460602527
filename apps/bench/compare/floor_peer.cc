// The floor: the nine operations as little as they can be, by hand, for one program that calls them in step. No argument
// is looked at, nothing is recorded, nobody can fail. What is left are the hops, the bytes and the switches between
// processes that no library can do without, so the best peer's time over it bounds every ratio from above. Each figure is
// the best of several ways: all in step, staged piece by piece, streamed through rings.
//
//     floor_peer shared|private RANKS OP[,OP...] SIZE[,SIZE...] SECONDS
//
// shared: buffers that all ranks reach. private: buffers of each rank's own, which the kernel copies between processes.
#include <cstring>
#include <limits>
#include <map>

#include "bench/compare/floor_rank.h"
#include "bench/compare/forked_ranks.h"
#include "bench/compare/peer.h"

namespace {

using shoal::bench::FloorRank;
using shoal::bench::kLineBytes;
using shoal::bench::kMostRanks;
using shoal::bench::Memory;

/// The operations, each in one way or several.
class Rank : public FloorRank {
 public:
  Rank(const Memory& memory, int rank, int ranks) : FloorRank(memory, rank, ranks) {
    for (std::size_t to = 0; to < count(); ++to) everybody_.push_back({to, memory.out[to]});
  }

  // In step.

  void barrier(std::size_t /*none*/) { meet(); }

  void all_reduce(std::size_t n) {
    float* const out = memory_->out[mine()];
    if (n * sizeof(float) <= kLineBytes) {
      std::memcpy(out, memory_->in[mine()], n * sizeof(float));
      round(bytes_of(out, n), [&](int, const std::byte* theirs) { add(out, theirs, n); });
      return;
    }
    in_step([&] { sum_part(n, everybody_); });
  }
  void reduce_scatter(std::size_t n) {
    float* const out = memory_->out[mine()];
    const std::size_t chunk = n / count();
    if (n * sizeof(float) <= kLineBytes) {
      std::memcpy(out, memory_->in[mine()] + chunk * mine(), chunk * sizeof(float));
      round(bytes_of(memory_->in[mine()], n),
            [&](int, const std::byte* theirs) { add(out, theirs + chunk * mine() * sizeof(float), chunk); });
      return;
    }
    in_step([&] { sum_part(chunk * count(), {{mine(), out - chunk * mine()}}); });
  }
  void all_gather(std::size_t n) {
    float* const out = memory_->out[mine()];
    const std::size_t chunk = n / count();
    if (chunk * sizeof(float) <= kLineBytes) {
      std::memcpy(out + chunk * mine(), memory_->in[mine()], chunk * sizeof(float));
      round(bytes_of(memory_->in[mine()], chunk), [&](int rank, const std::byte* theirs) {
        std::memcpy(out + chunk * static_cast<std::size_t>(rank), theirs, chunk * sizeof(float));
      });
      return;
    }
    in_step([&] {
      // Pieces of all chunks in turn: who copies the same piece at the same time fetches it from memory once.
      const std::size_t piece = memory_->reached ? kPiece : chunk;
      for (std::size_t at = 0; at < chunk; at += piece)
        for (std::size_t from = 0; from < count(); ++from)
          copy_from(from, out + chunk * from + at, memory_->in[from] + at, std::min(piece, chunk - at));
    });
  }
  void all_to_all(std::size_t n) {
    float* const out = memory_->out[mine()];
    const std::size_t chunk = n / count();
    const auto take = [&](std::size_t from, const float* theirs) {
      copy_from(from, out + chunk * from, theirs + chunk * mine(), chunk);
    };
    if (n * sizeof(float) <= kLineBytes) {
      take(mine(), memory_->in[mine()]);
      round(bytes_of(memory_->in[mine()], n), [&](int rank, const std::byte* theirs) {
        std::memcpy(out + chunk * static_cast<std::size_t>(rank), theirs + chunk * mine() * sizeof(float),
                    chunk * sizeof(float));
      });
      return;
    }
    in_step([&] {
      for (std::size_t i = 0; i < count(); ++i) take((mine() + i) % count(), memory_->in[(mine() + i) % count()]);
    });
  }
  // From and into the root's memory; all ranks share the copies.
  void broadcast(std::size_t n) {
    in_step([&] {
      if (!memory_->reached) {
        const std::size_t own = n - n / count();  // What each fetches; the root brings it the rest.
        if (rank_ != 0) copy_from(0, memory_->in[mine()], memory_->in[0], own);
        for (std::size_t to = 1; to < count() && rank_ == 0; ++to)
          copy_to(to, memory_->in[to] + own, memory_->in[0] + own, n - own);
        return;
      }
      const Part part = part_of(n);
      for (std::size_t at = part.begin; at < part.end; at += kPiece)
        for (std::size_t to = 1; to < count(); ++to)
          copy(memory_->in[to] + at, memory_->in[0] + at, std::min(kPiece, part.end - at));
    });
  }
  void reduce(std::size_t n) {
    in_step([&] { sum_part(n, {{0, memory_->out[0]}}); });
  }
  void gather(std::size_t n) {
    const std::size_t chunk = n / count();
    in_step([&] { copy_to(0, memory_->out[0] + chunk * mine(), memory_->in[mine()], chunk); });
  }
  void scatter(std::size_t n) {
    const std::size_t chunk = n / count();
    in_step([&] { copy_from(0, memory_->out[mine()], memory_->in[0] + chunk * mine(), chunk); });
  }

  // Staged: each piece is shown in memory that all reach, in a round of its own, and need not stay there for longer.

  void all_reduce_staged(std::size_t n) {
    staged(n, 1, pieces_of(n, 1),
           [&](std::size_t at, std::size_t size) { sum_shown(0, size, memory_->out[mine()] + at); });
  }
  void reduce_scatter_staged(std::size_t n) {
    staged(n / count(), count(), pieces_of(n / count(), count()),
           [&](std::size_t at, std::size_t size) { sum_shown(mine() * size, size, memory_->out[mine()] + at); });
  }
  void all_gather_staged(std::size_t n) {
    const std::size_t chunk = n / count();
    staged(chunk, 1, pieces_of(chunk, 1), [&](std::size_t at, std::size_t size) { take_shown(chunk, at, size, 0); });
  }
  void all_to_all_staged(std::size_t n) {
    const std::size_t chunk = n / count();
    staged(chunk, count(), pieces_of(chunk, count()),
           [&](std::size_t at, std::size_t size) { take_shown(chunk, at, size, mine() * size); });
  }

  // Streamed: a sender waits only where the ring is full.

  void broadcast_streamed(std::size_t n) {
    if (rank_ == 0) {
      put(0, memory_->in[0], n);
    } else {
      take(0, 0, n, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        std::memcpy(reinterpret_cast<std::byte*>(memory_->in[mine()]) + at, theirs, bytes);
      });
    }
  }
  void reduce_streamed(std::size_t n) {
    if (rank_ != 0) {
      put(0, memory_->in[mine()], n);
      return;
    }
    float* const out = memory_->out[0];
    std::memcpy(out, memory_->in[0], n * sizeof(float));
    for (int from = 1; from < ranks_; ++from)
      take(from, 0, n, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        add(out + at / sizeof(float), theirs, bytes / sizeof(float));
      });
  }
  void gather_streamed(std::size_t n) {
    const std::size_t chunk = n / count();
    if (rank_ != 0) {
      put(0, memory_->in[mine()], chunk);
      return;
    }
    std::memcpy(memory_->out[0], memory_->in[0], chunk * sizeof(float));
    for (int from = 1; from < ranks_; ++from)
      take(from, 0, chunk, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        std::memcpy(reinterpret_cast<std::byte*>(memory_->out[0] + chunk * static_cast<std::size_t>(from)) + at, theirs,
                    bytes);
      });
  }
  void scatter_streamed(std::size_t n) {
    const std::size_t chunk = n / count();
    if (rank_ != 0) {
      take(0, rank_, chunk, [&](const std::byte* theirs, std::size_t at, std::size_t bytes) {
        std::memcpy(reinterpret_cast<std::byte*>(memory_->out[mine()]) + at, theirs, bytes);
      });
      return;
    }
    for (int to = 1; to < ranks_; ++to) put(to, memory_->in[0] + chunk * static_cast<std::size_t>(to), chunk);
    std::memcpy(memory_->out[0], memory_->in[0], chunk * sizeof(float));
  }

 private:
  std::vector<Target> everybody_;
};

using Way = void (Rank::*)(std::size_t);

/// Whether a way does what it says, with values that differ by rank and position; throws where not.
void check(const Memory& memory, Rank& self, int rank, int ranks, const std::string& name, Way way, std::size_t n) {
  const auto value = [](int of, std::size_t at) { return static_cast<float>(of * 1000 + static_cast<int>(at % 997)); };
  const auto mine = static_cast<std::size_t>(rank);
  const std::size_t chunk = n / static_cast<std::size_t>(ranks);
  const std::size_t used =
      name == "broadcast" || name == "reduce" || name == "all_reduce" ? n : chunk * static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < used; ++i) {
    memory.in[mine][i] = value(rank, i);
    memory.out[mine][i] = -1;
  }
  self.meet();
  (self.*way)(n);
  self.meet();
  const auto sum_at = [&](std::size_t at) {
    float sum = 0;
    for (int from = 0; from < ranks; ++from) sum += value(from, at);
    return sum;
  };
  const bool root_only = name == "reduce" || name == "gather";
  const bool own_chunk = name == "reduce_scatter" || name == "scatter";
  const std::size_t given = root_only && rank != 0 ? 0 : own_chunk ? chunk : used;
  for (std::size_t i = 0; i < given; ++i) {
    const auto from = static_cast<int>(i / std::max<std::size_t>(chunk, 1));
    float expected = sum_at(own_chunk ? i + chunk * mine : i);
    if (name == "broadcast") expected = value(0, i);
    if (name == "scatter") expected = value(0, i + chunk * mine);
    if (name == "all_gather" || name == "gather") expected = value(from, i % chunk);
    if (name == "all_to_all") expected = value(from, i % chunk + chunk * mine);
    const float got = (name == "broadcast" ? memory.in : memory.out)[mine][i];
    if (got != expected) throw std::runtime_error(name + " is wrong at " + std::to_string(i));
  }
  self.meet();
}

void run_rank(const Memory& memory, int rank, int ranks, const shoal::bench::PeerArguments& arguments) {
  Rank self(memory, rank, ranks);
  const std::map<std::string, std::vector<Way>> known{
      {"barrier", {&Rank::barrier}},
      {"broadcast", {&Rank::broadcast, &Rank::broadcast_streamed}},
      {"reduce", {&Rank::reduce, &Rank::reduce_streamed}},
      {"all_reduce", {&Rank::all_reduce, &Rank::all_reduce_staged}},
      {"reduce_scatter", {&Rank::reduce_scatter, &Rank::reduce_scatter_staged}},
      {"all_gather", {&Rank::all_gather, &Rank::all_gather_staged}},
      {"all_to_all", {&Rank::all_to_all, &Rank::all_to_all_staged}},
      {"gather", {&Rank::gather, &Rank::gather_streamed}},
      {"scatter", {&Rank::scatter, &Rank::scatter_streamed}},
  };
  for (const std::string& name : arguments.operations) {
    const bool has_data = name != "barrier";
    for (const std::size_t size : has_data ? arguments.sizes : std::vector<std::size_t>{0}) {
      const std::size_t elements = size / sizeof(float);
      if (has_data && elements < static_cast<std::size_t>(ranks)) continue;
      double best = std::numeric_limits<double>::max();
      for (const Way way : known.at(name)) {
        if (has_data) check(memory, self, rank, ranks, name, way, elements);
        const auto times = shoal::bench::time_calls(
            size, arguments.seconds, [&] { (self.*way)(elements); }, [&] { self.meet(); },
            [&](double seconds) { return self.slowest(seconds); });
        best = std::min(best, times.median());
      }
      if (rank == 0) std::printf("%s %zu %.3f\n", name.c_str(), size, best * 1e6);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 6 ? argv[1] : "";
  const int ranks = argc == 6 ? std::atoi(argv[2]) : 0;
  if ((kind != "shared" && kind != "private") || ranks < 1 || ranks > kMostRanks) {
    std::fprintf(stderr, "usage: floor_peer shared|private RANKS OP[,OP...] SIZE[,SIZE...] SECONDS\n");
    return 2;
  }
  const shoal::bench::PeerArguments arguments(argv + 3);
  const Memory memory(ranks, arguments.most_elements(), kind == "shared");
  return shoal::bench::run_forked(ranks, [&](int rank) { run_rank(memory, rank, ranks, arguments); }) ? 0 : 1;
}
