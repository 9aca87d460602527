// An MPI's arm of the comparison: its blocking collectives, on private memory. Started by mpirun.
#include <mpi.h>

#include "bench/compare/peer.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) {
    std::fprintf(stderr, "usage: mpi_peer OP[,OP...] SIZE[,SIZE...] SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const shoal::bench::PeerArguments arguments(argv + 1);
  std::vector<float> in(arguments.most_elements(), 1.0F);
  std::vector<float> out(arguments.most_elements(), 0.0F);
  float* const a = in.data();
  float* const b = out.data();
  const auto whole = [](std::size_t elements) { return static_cast<int>(elements); };
  const auto chunk = [&](std::size_t elements) { return static_cast<int>(elements) / ranks; };

  using Count = std::size_t;
  const std::map<std::string, shoal::bench::PeerOperation> known{
      {"barrier", [&](Count) { MPI_Barrier(comm); }},
      {"broadcast", [&](Count n) { MPI_Bcast(a, whole(n), MPI_FLOAT, 0, comm); }},
      {"reduce", [&](Count n) { MPI_Reduce(a, b, whole(n), MPI_FLOAT, MPI_SUM, 0, comm); }},
      {"all_reduce", [&](Count n) { MPI_Allreduce(a, b, whole(n), MPI_FLOAT, MPI_SUM, comm); }},
      {"reduce_scatter", [&](Count n) { MPI_Reduce_scatter_block(a, b, chunk(n), MPI_FLOAT, MPI_SUM, comm); }},
      {"all_gather", [&](Count n) { MPI_Allgather(a, chunk(n), MPI_FLOAT, b, chunk(n), MPI_FLOAT, comm); }},
      {"all_to_all", [&](Count n) { MPI_Alltoall(a, chunk(n), MPI_FLOAT, b, chunk(n), MPI_FLOAT, comm); }},
      {"gather", [&](Count n) { MPI_Gather(a, chunk(n), MPI_FLOAT, b, chunk(n), MPI_FLOAT, 0, comm); }},
      {"scatter", [&](Count n) { MPI_Scatter(a, chunk(n), MPI_FLOAT, b, chunk(n), MPI_FLOAT, 0, comm); }},
  };
  const auto slowest = [&](double seconds) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
  };
  shoal::bench::time_peer(
      arguments, rank, ranks, known, [&] { MPI_Barrier(comm); }, slowest);
  MPI_Finalize();
}
