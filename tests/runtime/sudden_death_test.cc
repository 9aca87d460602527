#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "byte_calls.h"
#include "call_book.h"
#include "mapping.h"
#include "shared_text.h"
#include "support/errors.h"
#include "support/run_ranks.h"

// A rank that is killed between two of its stores into shared memory (B37): the others find it lost as promptly as
// ever, and the next job runs. Each place leaves the segment as it is there, written by the rank that is then killed.

namespace shoal {
namespace {

using detail::CommunicatorState;
using detail::Once;
using test::call_of;
using test::error_of;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Mapping = JobSegment::Mapping;

constexpr int kVictim = 1;
constexpr std::size_t kMessage = 1000;
constexpr std::uint64_t kChannel = 4096;

struct Place {
  std::string name;
  std::function<void(const Mapping&)> leave;
};

void half_an_error(CommunicatorState& state) {
  state.broken.store(detail::being_written_by(kVictim), std::memory_order_seq_cst);
  state.code = static_cast<std::uint32_t>(ErrorCode::mismatch);
  std::memcpy(state.text, "rank 1: mism", 12);
}

void whole_error(CommunicatorState& state) {
  half_an_error(state);
  state.rank = kVictim;
  state.peer = 0;
  detail::copy_text(state.text, "rank 1: mismatch: told to nobody");
  state.broken.store(static_cast<std::uint32_t>(Once::set), std::memory_order_seq_cst);
}

/// The first `bytes` of a message of kMessage bytes to rank 0 are in the ring.
void write_payload(const Mapping& mapping, std::size_t bytes) {
  std::memset(mapping.channel(kVictim, 0).ring.data(), 1, bytes);
}

/// Its envelope is written, but for the number.
detail::Envelope& write_envelope(const Mapping& mapping, std::uint64_t bytes, std::uint64_t fingerprint) {
  detail::Envelope& envelope = mapping.channel(kVictim, 0).envelopes[1];
  envelope.header = {.fingerprint = fingerprint, .bytes = bytes};
  return envelope;
}

const std::vector<Place>& places() {
  static const std::vector<Place> all{
      {"an error's state and its text, of the communicator",
       [](const Mapping& job) { half_an_error(job.communicator(0)); }},
      {"an error's state and its text, of the job",
       [](const Mapping& job) { half_an_error(job.communicator(detail::kAnyCommunicator)); }},
      {"the job's first error and the communicator's",
       [](const Mapping& job) { whole_error(job.communicator(detail::kAnyCommunicator)); }},
      {"taking a communicator and clearing what it held",
       [](const Mapping& job) {
         whole_error(job.communicator(1));
         job.communicator(1).handles.store(3, std::memory_order_seq_cst);
       }},
      {"taking a communicator and telling its number",
       [](const Mapping& job) {
         job.communicator(1).handles.store(3, std::memory_order_seq_cst);
         job.communicator(1).generation.store(1, std::memory_order_seq_cst);
       }},
      {"a message's content and its envelope", [](const Mapping& job) { write_payload(job, kMessage); }},
      {"a message's first half and its second",
       [](const Mapping& job) {
         write_payload(job, kMessage / 2);
         const auto call = detail::read_call(job.rank(0), job.rank(0).calls_begun.load(std::memory_order_seq_cst));
         detail::Envelope& envelope = write_envelope(job, kMessage, call->fingerprint);  // It fits.
         envelope.longer.head = kMessage / 2 / 16 * 16;
         job.channel(kVictim, 0).control.producer.head.store(envelope.longer.head, std::memory_order_seq_cst);
         envelope.number.store(1, std::memory_order_seq_cst);
       }},
      {"a message's envelope and its number", [](const Mapping& job) { write_envelope(job, 8, 77); }},
      {"an arrival's content and its round",
       [](const Mapping& job) { job.flag_line(0, kVictim, 1).write(77, std::vector<std::byte>(100)); }},
      {"a call's record and its number",
       [](const Mapping& job) {
         detail::CallRecord& record = job.rank(kVictim).records[1];
         record.number.store(0, std::memory_order_seq_cst);
         record.fingerprint.store(77, std::memory_order_seq_cst);
       }},
      {"publishing and waking", [](const Mapping& job) { job.rank(0).sleeping.store(0, std::memory_order_seq_cst); }},
      {"the heap's books", [](const Mapping& job) { std::memset(job.heap(kVictim).data(), 0xff, 2048); }},
      {"claiming the rank and saying so",
       [](const Mapping& job) {
         job.rank(kVictim).owner_namespace.store(0, std::memory_order_seq_cst);
         job.rank(kVictim).phase.store(static_cast<std::uint32_t>(RankPhase::absent), std::memory_order_seq_cst);
       }},
  };
  return all;
}

/// The job that this process is a rank of.
JobSegment own_job() {
  for (int fd = 0; fd < 1024; ++fd) {
    std::array<char, 64> target{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(link.c_str(), target.data(), target.size() - 1) > 0 &&
        std::string(target.data()).starts_with("/memfd:shoal"))
      return JobSegment::attach("memfd:" + std::to_string(fd));
  }
  throw std::logic_error("no segment is open");
}

/// Waits, without the job's own means, until rank 0 is in a call and perhaps asleep in it.
void await_call_of_rank_0(const Mapping& job) {
  while (job.rank(0).calls_begun.load(std::memory_order_seq_cst) == 0 ||
         job.rank(0).awaits.load(std::memory_order_seq_cst) == 0)
    sched_yield();
}

void receive(Communicator& comm, int from) {
  std::vector<std::byte> data(kMessage);
  comm.perform(call_of(Operation::gather, kMessage), {}, [&] { comm.recv(from, data); });
}

TEST(SuddenDeath, BetweenAnyTwoStoresEndsTheJobAndTheNextOneRuns) {
  for (const Place& place : places()) {
    SCOPED_TRACE("between " + place.name);
    const auto result = launch(3,
                               [&](Session& session) {
                                 Communicator& comm = session.world();
                                 if (comm.rank() != kVictim) return receive(comm, comm.rank() == 0 ? kVictim : 0);
                                 const JobSegment job = own_job();
                                 await_call_of_rank_0(job.mapping());
                                 place.leave(job.mapping());
                                 raise(SIGKILL);
                               },
                               {.channel_bytes = kChannel, .heap_bytes = 8192, .timeout = std::chrono::seconds(20)});
    EXPECT_EQ(result.exit_code, 137);
    ASSERT_TRUE(result.first_failure.has_value());
    EXPECT_EQ(result.first_failure->rank, kVictim);
    EXPECT_EQ(result.first_failure->kind, FailureKind::signal);
    EXPECT_EQ(result.ranks[0].error, "rank 0: peer 1 lost in gather (linear, step 1): it was ended by SIGKILL");
    EXPECT_THAT(result.ranks[2].error,  // From the launcher, or told by rank 0.
                AnyOf("rank 2: peer 1 lost in gather (linear, step 1), waiting for peer 0: it was ended by SIGKILL",
                      EndsWith(result.ranks[0].error)));

    const auto next = test::run_ranks(3, [](Communicator& comm) {
      Communicator all = comm.split(0);
      std::vector<std::byte> in(kMessage);
      all.perform(call_of(Operation::all_gather, kMessage), {}, [&] {
        all.exchange((all.rank() + 1) % 3, test::content(all.rank(), 0, kMessage), (all.rank() + 2) % 3, in);
      });
      EXPECT_EQ(in, test::content((all.rank() + 2) % 3, 0, kMessage));
    });
    EXPECT_TRUE(next.all_passed()) << next;
  }
}

TEST(SuddenDeath, AfterTheErrorAndBeforeWakingLeavesItForTheOthersToFind) {
  const auto result = launch(3,
                             [](Session& session) {
                               Communicator& comm = session.world();
                               if (comm.rank() != kVictim) return receive(comm, comm.rank() == 0 ? kVictim : 0);
                               const JobSegment job = own_job();
                               await_call_of_rank_0(job.mapping());
                               whole_error(job.mapping().communicator(detail::kAnyCommunicator));
                               whole_error(job.mapping().communicator(0));
                               raise(SIGKILL);
                             },
                             {.channel_bytes = kChannel, .heap_bytes = 8192, .timeout = std::chrono::seconds(20)});
  EXPECT_EQ(result.exit_code, 137);
  for (const std::size_t rank : {0U, 2U})
    EXPECT_THAT(result.ranks[rank].error, HasSubstr(": rank 1: mismatch: told to nobody"));
}

// No launcher that sees the death, and rank 0, which finds it, does not leave: all depends on what is written.
TEST(SuddenDeath, OfWhoWasWritingTheErrorIsToldWithoutALauncherToo) {
  for (const std::uint32_t slot : {0U, detail::kAnyCommunicator}) {
    const JobSegment segment = JobSegment::create({.ranks = 3, .channel_bytes = kChannel, .heap_bytes = 4096});
    std::array<int, 2> told{};
    ASSERT_EQ(pipe(told.data()), 0);
    const pid_t rank_2 = fork();
    if (rank_2 == 0) {
      Session session(segment, 2);
      const auto error = error_of([&] { receive(session.world(), 0); });
      const std::string text = error ? std::string(name(error->code())) + ": " + error->what() : "nothing";
      _exit(write(told[1], text.data(), text.size()) < 0 ? 1 : 0);
    }
    const pid_t victim = fork();
    if (victim == 0) {
      const auto* session = new Session(segment, kVictim);
      half_an_error(segment.mapping().communicator(slot));
      raise(session == nullptr ? SIGTERM : SIGKILL);
    }
    ASSERT_EQ(waitpid(victim, nullptr, 0), victim);
    Session session(segment, 0);
    const auto error = error_of([&] { receive(session.world(), kVictim); });
    ASSERT_TRUE(error.has_value());  // Either finds it first and tells the other.
    EXPECT_EQ(error->code(), ErrorCode::peer_lost);
    EXPECT_THAT(error->what(), HasSubstr("peer 1 lost in gather (linear, step 1)"));
    EXPECT_THAT(error->what(), EndsWith("its process is gone"));

    pollfd end{.fd = told[0], .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&end, 1, 20'000), 1) << "rank 2 was told nothing";
    std::array<char, 512> text{};
    EXPECT_GT(read(told[0], text.data(), text.size() - 1), 0);
    EXPECT_THAT(text.data(), StartsWith("peer_lost: rank 2: "));
    EXPECT_THAT(text.data(), HasSubstr("peer 1 lost in gather (linear, step 1)"));
    EXPECT_THAT(test::refusal_of(ErrorCode::broken, [&] { receive(session.world(), kVictim); }),
                ::testing::ContainsRegex("the communicator is broken: rank [02]: peer 1 lost"));
    waitpid(rank_2, nullptr, 0);
    for (const int fd : told) close(fd);
  }
}

}  // namespace
}  // namespace shoal
