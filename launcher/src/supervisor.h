#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "descendants.h"
#include "descriptor.h"
#include "guard.h"
#include "job_board.h"
#include "job_output.h"
#include "reaper.h"
#include "shoal/runtime/job_segment.h"
#include "spawn.h"
#include "stall_watch.h"
#include "verdict.h"
#include "wait_table.h"

namespace shoal::detail {

struct JobPlan {
  int ranks = 1;
  std::chrono::milliseconds timeout{0};        ///< For the whole job; 0: none.
  std::chrono::milliseconds stall_timeout{0};  ///< Without progress in calls; 0: none.
  std::chrono::milliseconds grace{0};          ///< From TERM to KILL.
  /// From the failure to TERM: a rank that is woken because a peer is lost says so and ends by itself, if it is given
  /// the time. So long also may the culprit live on while its victims have ended already.
  std::chrono::milliseconds courtesy{500};
  /// Whether ranks that have no session get TERM at once when another fails: right for programs that may never make
  /// one, not where every rank is about to.
  bool end_strangers_at_once = false;
  RankMain rank_main;
  /// What else is to run in the guard's loop; called once, when the ranks have been forked.
  std::function<void(boost::asio::io_context& loop)> begin;
  /// The loop has ended, and is about to go.
  std::function<void()> end;
  /// Why the ranks could not be started, once known; asked before anybody else is blamed.
  std::function<std::optional<FirstFailure>()> start_failure;
};

/// Looks after the ranks of a job, in the guard, until nobody and nothing of them is left.
///
/// The first failure is named, put into the segment at once (which wakes every rank that waits for another: it gets
/// `peer_lost` and ends by itself), and ends the others:
///
///     failure --- courtesy ---> TERM and CONT to all that are left --- grace ---> KILL
///
/// Ranks without a session cannot be woken; under shoalrun they get their TERM at once. INT, TERM and HUP are
/// passed on to the ranks, once, as what they are; the grace begins with them, and a second one means KILL. TSTP, CONT,
/// USR1 and USR2 are passed on as often as they come, QUIT has the table of who waits for whom printed. When all ranks
/// have ended, what they left running is ended too, as it is found, again and again: after a failure within the same grace,
/// else it gets TERM after 0.2 s and KILL half a second later. If the launcher dies, everything gets KILL at once.
class Supervisor {
 public:
  /// `ranks`: the processes of spawn_ranks(), by rank. `segment`, `board`, `plan` and `output` must outlive this.
  Supervisor(JobSegment segment, JobBoard& board, const JobPlan& plan, JobOutput& output, std::vector<pid_t> ranks,
             Descriptor control);

  /// Runs to the job's end and returns its exit code.
  int run();

 private:
  void listen_to_signals();
  void listen_to_launcher();
  void watch_for_stalls();
  void look_for_stall();
  bool must_go_on() const;
  void after(boost::asio::steady_timer& timer, std::chrono::milliseconds delay, std::function<void()> action);

  void children_changed();
  void consider_failure();
  bool memory_was_cut();
  void name_failure(FirstFailure failure);
  FirstFailure cause_of_timeout(const FirstFailure& timeout);
  void name_last_call(int rank);
  std::optional<Process> process_of(int rank) const;
  std::vector<RankView> view_ranks() const;
  std::vector<RankView> view_ranks_at_error() const;
  void announce_waits(const std::vector<RankView>& views);
  void received(int signal);
  void pass_on(int signal);
  bool is_same_wish(int signal);
  void interrupted(int signal);
  void launcher_gone();

  void begin_ending();
  void signal_rank(int rank, int signal);
  void signal_strangers(int signal);
  void signal_all(int signal);
  void keep_signalling_strangers(int signal);
  void grace_is_over();
  void kill_all();

  void end_leftovers();
  void finish();
  int exit_code() const;

  bool alive(int rank) const { return !board_->wait_status(rank); }
  std::optional<int> rank_of(pid_t pid) const;

  JobSegment segment_;
  JobBoard* board_;
  const JobPlan* plan_;
  JobOutput* output_;
  std::vector<pid_t> ranks_;
  int ended_ = 0;
  Reaper reaper_;
  Verdict verdict_;
  StallWatch stall_watch_;

  boost::asio::io_context loop_{1};
  boost::asio::posix::stream_descriptor signals_;  // A signalfd: no handler runs in what may be anyone's program.
  signalfd_siginfo signal_{};
  boost::asio::posix::stream_descriptor control_;
  std::array<ControlByte, 16> control_bytes_{};
  boost::asio::steady_timer job_timer_{loop_};       // The job's timeout.
  boost::asio::steady_timer stall_timer_{loop_};     // The next look for a stall.
  boost::asio::steady_timer courtesy_timer_{loop_};  // From the failure to TERM.
  boost::asio::steady_timer grace_timer_{loop_};     // From TERM to KILL.
  boost::asio::steady_timer sweep_timer_{loop_};     // Leftovers: first delay, then repeated TERM or KILL.
  boost::asio::steady_timer leftover_timer_{loop_};  // From their TERM to KILL, after a good end.

  std::optional<FirstFailure> failure_;
  std::optional<int> interrupt_;  // The first signal passed on, if that came before any failure.
  bool signalled_ = false;        // Some signal that ends a job was passed on.
  std::optional<std::chrono::steady_clock::time_point> terminated_;  // When the first SIGTERM came.
  bool stopped_ = false;                                             // The job, by TSTP.
  bool ending_ = false;
  bool killing_ = false;
  bool sweeping_ = false;
  bool finishing_ = false;
  bool output_dropped_ = false;
  bool abandoned_ = false;               // The launcher is gone.
  std::set<pid_t> signalled_processes_;  // Ranks and others below us that have had their signal.
  std::chrono::steady_clock::time_point kill_deadline_;
};

/// Forks the ranks. If one cannot be had, ends the others and throws Error `system`.
std::vector<pid_t> spawn_ranks(const JobPlan& plan);

}  // namespace shoal::detail
