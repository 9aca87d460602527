// A rank that makes every collective call, three times over, and meets its end where it is told to:
//
//     fault_program MOMENT RANK ACTION
//
// MOMENT: before (the session), between (two calls), last (before its session ends), end (when its session is over), or
// nowhere; in a call a rank is struck by SHOAL_FAULT. split: RANK is how many
// communicators are open at once; barriers: how many barriers are made, each with an all-reduce of 1 KiB. ACTION: kill, segv, abort, stop, exit:N, throw; cut
// (takes the job's shared memory away) or hole (out of it, and fills /dev/shm),
// scribble:SEED (over it). Each rank first
// prints "RANK pid PID".
#include <fcntl.h>
#include <shoal/shoal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using shoal::Communicator;

// The descriptor of the job's memory.
int job_file() {
  const char* job = std::getenv("SHOAL_JOB");
  const char* number = job != nullptr ? std::strchr(job, ':') : nullptr;
  return number != nullptr ? std::atoi(number + 1) : -1;
}

void cut_memory(bool by_a_hole) {
  const int file = job_file();
  if (!by_a_hole) {
    if (::ftruncate(file, 0) != 0) std::exit(9);
    for (;;) ::pause();
  }
  struct stat status {};
  ::fstat(file, &status);
  if (::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status.st_size) != 0) std::exit(9);
  const int filler = ::open("/dev/shm/filler", O_WRONLY | O_CREAT, 0600);
  const std::vector<char> block(4096);
  while (::write(filler, block.data(), block.size()) > 0) {
  }
  for (;;) ::pause();
}

// Kinds of bytes over the first MiB, or all but the header, or but what the launcher writes.
void scribble(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  constexpr std::array<off_t, 3> kBegins{0, 128, 640};
  std::vector<unsigned char> bytes(std::size_t{4} << 20);
  for (auto& byte : bytes)
    byte = static_cast<unsigned char>(seed % 3 == 0 ? random() : (seed % 3 == 1 ? 0xff : random() % 4));
  const int file = job_file();
  struct stat status {};
  ::fstat(file, &status);
  const off_t begin = kBegins[seed / 3 % kBegins.size()];
  const auto size = std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(status.st_size - begin));
  if (::pwrite(file, bytes.data(), size, begin) != static_cast<ssize_t>(size)) std::exit(9);
  std::cout << "scribbled" << std::endl;
  for (;;) ::pause();
}

void meet_end(std::string_view action) {
  if (action.starts_with("scribble:")) scribble(std::stoull(std::string(action.substr(9))));
  if (action == "cut" || action == "hole") cut_memory(action == "hole");
  if (action == "kill") std::raise(SIGKILL);
  if (action == "segv") {
    std::signal(SIGSEGV, SIG_DFL);  // Sanitizers have a handler of their own.
    std::raise(SIGSEGV);
  }
  if (action == "abort") std::abort();
  if (action == "stop") std::raise(SIGSTOP);
  if (action == "throw") throw std::runtime_error("thrown as asked");
  if (action.starts_with("exit:")) std::exit(std::stoi(std::string(action.substr(5))));
}

void call_everything(Communicator& world) {
  const auto ranks = static_cast<std::size_t>(world.size());
  std::vector<float> one(1000, 1.0F);
  std::vector<float> all(1000 * ranks, 2.0F);
  std::vector<float> other(1000 * ranks);
  const std::vector<std::size_t> counts(ranks, 1000);
  const bool root = world.rank() == 0;
  std::vector<float> sum(1000);
  const std::vector<float> nothing;
  std::vector<float> none;
  shoal::barrier(world);
  shoal::broadcast(world, one);
  shoal::reduce(world, one, root ? sum : none, shoal::ReduceOp::sum);
  shoal::all_reduce(world, one, shoal::ReduceOp::sum);
  shoal::reduce_scatter(world, all, shoal::ReduceOp::sum);
  shoal::all_gather(world, one, all);
  shoal::all_gather_v(world, one, all, counts);
  shoal::gather(world, one, root ? all : none);
  shoal::gather_v(world, one, root ? all : none, counts);
  shoal::scatter(world, root ? all : nothing, one);
  shoal::scatter_v(world, root ? all : nothing, one, counts);
  shoal::scatter_cyclic(world, root ? all : nothing, one);
  shoal::all_to_all(world, all, other);
  shoal::all_to_all_v(world, all, counts, other, counts);
}

/// So many communicators of all ranks, in each of which every rank shows the others what lies in its staging.
int split_often(Communicator& world, int communicators) {
  std::vector<Communicator> open;
  std::vector<float> data(4096, 1.0F);
  for (int i = 0; i < communicators; ++i) {
    open.push_back(world.split(0));
    shoal::all_reduce(open.back(), data, shoal::ReduceOp::max, {.algorithm = shoal::Algorithm::slots});
  }
  return data.front() == 1.0F ? 0 : 1;
}

int make_barriers(Communicator& world, int barriers) {
  std::vector<float> data(256, 1.0F);
  for (int i = 0; i < barriers; ++i) {
    shoal::barrier(world);
    shoal::all_reduce(world, data, shoal::ReduceOp::max);
  }
  return data.back() == 1.0F ? 0 : 1;
}

int run(const std::string& moment, int victim, const std::string& action) {
  const char* rank_text = std::getenv("SHOAL_RANK");
  const int rank = rank_text != nullptr ? std::atoi(rank_text) : 0;
  const auto is_here = [&](std::string_view here) { return rank == victim && moment == here; };
  std::cout << rank << " pid " + std::to_string(::getpid()) + "\n" << std::flush;
  if (moment == "barriers") {
    shoal::Session session;
    return make_barriers(session.world(), victim);
  }
  if (moment == "split") {
    shoal::Session session;
    return split_often(session.world(), victim);
  }
  if (is_here("before")) meet_end(action);
  {
    shoal::Session session;
    for (int round = 0; round < 3; ++round) {
      call_everything(session.world());
      if (round == 1 && is_here("between")) meet_end(action);
    }
    if (is_here("last")) meet_end(action);
  }
  if (is_here("end")) meet_end(action);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    return run(argv[1], std::atoi(argv[2]), argv[3]);
  } catch (const std::exception& error) {
    std::cerr << "fault_program: " << error.what() << std::endl;
    return 1;
  }
}
