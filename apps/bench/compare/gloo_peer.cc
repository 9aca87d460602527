// gloo's arm of the comparison, over TCP on the loopback, the only transport that Debian's has. It has no
// reduce_scatter of this form.
//
//     gloo_peer RANKS OP[,OP...] SIZE[,SIZE...] SECONDS
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include <filesystem>
#include <memory>

#include "bench/compare/forked_ranks.h"
#include "bench/compare/peer.h"

namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;
using Combine = void (*)(void*, const void*, const void*, std::size_t);
constexpr Combine kSum = &gloo::sum<float>;
constexpr Combine kMost = &gloo::max<double>;

Context join(int rank, int ranks, const std::string& directory) {
  gloo::rendezvous::FileStore store(directory);
  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  return context;
}

void run_rank(int rank, int ranks, const shoal::bench::PeerArguments& arguments, const std::string& directory) {
  const Context context = join(rank, ranks, directory);
  std::vector<float> in(arguments.most_elements(), 1.0F);
  std::vector<float> out(arguments.most_elements(), 0.0F);
  float* const a = in.data();
  float* const b = out.data();
  const auto chunk = [&](std::size_t elements) { return elements / static_cast<std::size_t>(ranks); };
  const auto cut = [&](std::size_t elements) { return chunk(elements) * static_cast<std::size_t>(ranks); };

  using Count = std::size_t;
  const auto meet = [&] {
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
  };
  const auto broadcast = [&](Count n) {
    gloo::BroadcastOptions options(context);
    options.setOutput(a, n);
    options.setRoot(0);
    gloo::broadcast(options);
  };
  const auto reduce = [&](Count n) {
    gloo::ReduceOptions options(context);
    options.setInput(a, n);
    options.setOutput(b, n);
    options.setRoot(0);
    options.setReduceFunction(kSum);
    gloo::reduce(options);
  };
  const auto all_reduce = [&](Count n) {
    gloo::AllreduceOptions options(context);
    options.setInput(a, n);
    options.setOutput(b, n);
    options.setReduceFunction(kSum);
    gloo::allreduce(options);
  };
  const auto all_gather = [&](Count n) {
    gloo::AllgatherOptions options(context);
    options.setInput(a, chunk(n));
    options.setOutput(b, cut(n));
    gloo::allgather(options);
  };
  const auto all_to_all = [&](Count n) {
    gloo::AlltoallOptions options(context);
    options.setInput(a, cut(n));
    options.setOutput(b, cut(n));
    gloo::alltoall(options);
  };
  const auto gather = [&](Count n) {
    gloo::GatherOptions options(context);
    options.setInput(a, chunk(n));
    if (rank == 0) options.setOutput(b, cut(n));
    options.setRoot(0);
    gloo::gather(options);
  };
  const auto scatter = [&](Count n) {
    gloo::ScatterOptions options(context);
    if (rank == 0) {
      std::vector<float*> parts;
      for (int to = 0; to < ranks; ++to) parts.push_back(a + static_cast<std::size_t>(to) * chunk(n));
      options.setInputs(parts, chunk(n));
    }
    options.setOutput(b, chunk(n));
    options.setRoot(0);
    gloo::scatter(options);
  };
  const auto slowest = [&](double seconds) {
    gloo::AllreduceOptions options(context);
    options.setOutput(&seconds, 1);
    options.setReduceFunction(kMost);
    gloo::allreduce(options);
    return seconds;
  };
  shoal::bench::time_peer(arguments, rank, ranks,
                          {{"barrier", [&](Count) { meet(); }},
                           {"broadcast", broadcast},
                           {"reduce", reduce},
                           {"all_reduce", all_reduce},
                           {"all_gather", all_gather},
                           {"all_to_all", all_to_all},
                           {"gather", gather},
                           {"scatter", scatter}},
                          meet, slowest);
  meet();  // Nobody takes down its connections while another still uses them.
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: gloo_peer RANKS OP[,OP...] SIZE[,SIZE...] SECONDS\n");
    return 2;
  }
  const int ranks = std::atoi(argv[1]);
  const shoal::bench::PeerArguments arguments(argv + 2);
  std::string directory = (std::filesystem::temp_directory_path() / "gloo_peer_XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    std::perror("mkdtemp");
    return 1;
  }
  const bool ok = shoal::bench::run_forked(ranks, [&](int rank) { run_rank(rank, ranks, arguments, directory); });
  std::filesystem::remove_all(directory);
  return ok ? 0 : 1;
}
