// Invariant: a rank is alive until its wait status stands on the board, and only living ranks' process groups are
// signalled as groups: the number of an empty group may belong to somebody else by now. Everyone else below us is
// found through /proc.
#include "supervisor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "descendants.h"
#include "exit_status.h"
#include "shoal/runtime/error.h"

namespace shoal::detail {
namespace {

using std::chrono::milliseconds;

// What ranks leave behind may be about to end by itself: a `tee` that reads to the end.
constexpr milliseconds kLeftoverTime{200};
constexpr milliseconds kLeftoverGrace{500};
constexpr milliseconds kSweepInterval{20};
// Processes that outlive SIGKILL are stuck in the kernel; waiting longer would only hang us too.
constexpr std::chrono::seconds kKillTime{5};
constexpr std::chrono::seconds kSameWish{1};

int open_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int descriptor = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0)
    throw Error(ErrorCode::system, std::string("cannot listen to the ranks (signalfd): ") + std::strerror(errno));
  return descriptor;
}

std::string text_of(milliseconds duration) {
  const auto count = duration.count();
  return count != 0 && count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::string text_of_state(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "in the kernel";
    case 'T':
    case 't':
      return RankView::kStopped;
    default:
      return "";
  }
}

Usage usage_of(const rusage& used) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.user_s = seconds(used.ru_utime),
          .system_s = seconds(used.ru_stime),
          .max_rss_bytes = static_cast<std::uint64_t>(used.ru_maxrss) << 10};
}

std::string list_of(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  return text;
}

}  // namespace

std::vector<pid_t> spawn_ranks(const JobPlan& plan) {
  std::vector<pid_t> ranks;
  try {
    for (int rank = 0; rank < plan.ranks; ++rank) ranks.push_back(spawn_rank(rank, plan.rank_main));
  } catch (...) {
    for (const pid_t pid : ranks) ::kill(-pid, SIGKILL);
    for (const pid_t pid : ranks) ::waitpid(pid, nullptr, 0);
    throw;
  }
  return ranks;
}

Supervisor::Supervisor(JobSegment segment, JobBoard& board, const JobPlan& plan, JobOutput& output,
                       std::vector<pid_t> ranks, Descriptor control)
    : segment_(std::move(segment)),
      board_(&board),
      plan_(&plan),
      output_(&output),
      ranks_(std::move(ranks)),
      stall_watch_(plan.stall_timeout),
      signals_(loop_, open_signals()),
      control_(loop_, control.release()) {
  segment_.survive_cuts();
  for (int rank = 0; rank < plan_->ranks; ++rank) {
    const pid_t pid = ranks_[static_cast<std::size_t>(rank)];
    board_->set_process(rank, pid);
    reaper_.watch(pid);
  }
}

int Supervisor::run() {
  if (plan_->begin) plan_->begin(loop_);
  output_->start(loop_, [this](const FirstFailure& failure) {
    if (!failure_) name_failure(failure);
  });
  listen_to_signals();
  listen_to_launcher();
  if (plan_->timeout.count() > 0) {
    after(job_timer_, plan_->timeout, [this] {
      if (failure_ || interrupt_ || ended_ == plan_->ranks) return;
      announce_waits(view_ranks());
      name_failure({.rank = -1,
                    .kind = FailureKind::timeout,
                    .code = kExitTimeout,
                    .message = "the job did not end within its " + text_of(plan_->timeout)});
    });
  }
  watch_for_stalls();
  // Whoever ended before the signals were listened to.
  children_changed();
  loop_.run();
  output_->stop();
  if (plan_->end) plan_->end();
  const int code = exit_code();
  // What ranks do once they are told to end is no failure of theirs.
  board_->finish(code, interrupt_ ? std::nullopt : failure_, signalled_ || abandoned_);
  return code;
}

void Supervisor::after(boost::asio::steady_timer& timer, milliseconds delay, std::function<void()> action) {
  timer.expires_after(delay);
  timer.async_wait([action = std::move(action)](const boost::system::error_code& cancelled) {
    if (!cancelled) action();
  });
}

void Supervisor::listen_to_signals() {
  signals_.async_read_some(boost::asio::buffer(&signal_, sizeof signal_),
                           [this](const boost::system::error_code& error, std::size_t /*bytes*/) {
                             if (error) return;
                             if (signal_.ssi_signo == SIGCHLD) {
                               children_changed();
                             } else {
                               received(static_cast<int>(signal_.ssi_signo));
                             }
                             listen_to_signals();
                           });
}

void Supervisor::listen_to_launcher() {
  control_.async_read_some(boost::asio::buffer(control_bytes_),
                           [this](const boost::system::error_code& error, std::size_t bytes) {
                             if (error) {
                               launcher_gone();
                               return;
                             }
                             for (std::size_t i = 0; i < bytes; ++i) received(control_bytes_[i]);
                             listen_to_launcher();
                           });
}

std::optional<int> Supervisor::rank_of(pid_t pid) const {
  for (int rank = 0; rank < plan_->ranks; ++rank)
    if (ranks_[static_cast<std::size_t>(rank)] == pid && alive(rank)) return rank;
  return std::nullopt;
}

void Supervisor::children_changed() {
  for (const Death& death : reaper_.reap()) {
    const auto rank = rank_of(death.pid);
    if (!rank) continue;  // Somebody whom a rank left behind.
    ++ended_;
    board_->set_end(*rank, death.wait_status, usage_of(death.usage));
    verdict_.ended(*rank, death.wait_status, segment_.met_error(*rank));
    if (death.wait_status == 0) segment_.rank_ended(*rank);
    output_->rank_ended(*rank);
  }
  if (!failure_ && !memory_was_cut()) consider_failure();
  if (ended_ < plan_->ranks) return;
  const auto failure = verdict_.decide_at_end(segment_.first_error());
  if (!failure_ && !interrupt_ && failure) name_failure(*failure);
  end_leftovers();
}

// Nothing that the segment says is to be had then, and ranks die of it in any order.
bool Supervisor::memory_was_cut() {
  if (!segment_.was_cut()) return false;
  if (!failure_ && !interrupt_)
    name_failure({.rank = -1,
                  .kind = FailureKind::exit,
                  .code = 1,
                  .message = "the job's shared memory was cut: a rank made it shorter, or /dev/shm is full"});
  return true;
}

void Supervisor::consider_failure() {
  if (plan_->start_failure) {
    if (const auto failure = plan_->start_failure()) {
      name_failure(*failure);
      return;
    }
  }
  const auto first_error = segment_.first_error();
  if (const auto failure = verdict_.decide(first_error)) {
    name_failure(*failure);
  } else if (verdict_.awaited(first_error)) {
    begin_ending();  // Meanwhile the culprit may end: that tells more than the ends of its victims.
  }
}

// The rank whose time was up is the victim of the one for which it waited.
FirstFailure Supervisor::cause_of_timeout(const FirstFailure& timeout) {
  const auto views = view_ranks_at_error();
  announce_waits(views);
  const StallCause cause = stall_cause(views);
  return {.rank = cause.rank,
          .kind = FailureKind::timeout,
          .code = kExitTimeout,
          .message = cause.text + " (" + timeout.message + ")"};
}

void Supervisor::name_failure(FirstFailure failure) {
  const bool of_a_call = failure.kind == FailureKind::timeout && failure.rank >= 0;
  if (of_a_call && !interrupt_ && !abandoned_) failure = cause_of_timeout(failure);
  failure_ = failure;
  segment_.abort(failure);
  // That ranks end by a signal that we passed on, or by our own KILL, is no news.
  if (!interrupt_ && !abandoned_ && !failure.message.empty()) {
    output_->announce(failure.message);
    name_last_call(failure.rank);
  }
  begin_ending();
}

void Supervisor::name_last_call(int rank) {
  const auto last = rank >= 0 ? segment_.last_call(rank) : std::nullopt;
  if (!last) return;
  const char* how = last->failed ? "failed: " : (last->returned ? "finished: " : "not finished: ");
  output_->announce(std::string("its last call, ") + how + describe(*last));
}

// Below a wrapper the process that made the session is another than the one that we started.
std::optional<Process> Supervisor::process_of(int rank) const {
  const auto owner = static_cast<pid_t>(segment_.process(rank));
  return read_process(owner > 0 ? owner : ranks_[static_cast<std::size_t>(rank)]);
}

std::vector<RankView> Supervisor::view_ranks() const {
  std::vector<RankView> views;
  for (int rank = 0; rank < plan_->ranks; ++rank) {
    const auto process = process_of(rank);
    views.push_back({.ended = !alive(rank),
                     .process_state = process ? text_of_state(process->state) : "",
                     .phase = segment_.phase(rank),
                     .last_call = segment_.last_call(rank),
                     .awaits = segment_.awaited_by(rank)});
  }
  return views;
}

// Ranks whose wait ended in an error, since another's time was up, count as waiting still.
std::vector<RankView> Supervisor::view_ranks_at_error() const {
  auto views = view_ranks();
  for (int rank = 0; rank < plan_->ranks; ++rank) {
    const int awaited = segment_.gave_up_on(rank);
    RankView& view = views[static_cast<std::size_t>(rank)];
    view.gave_up = awaited >= 0;
    if (view.gave_up) view.awaits = awaited;
  }
  return views;
}

void Supervisor::announce_waits(const std::vector<RankView>& views) {
  output_->announce("who waits for whom:");
  for (const std::string& line : wait_table(views)) output_->announce("  " + line);
}

void Supervisor::watch_for_stalls() {
  if (plan_->stall_timeout.count() == 0) return;
  after(stall_timer_, stall_watch_.interval(), [this] {
    look_for_stall();
    if (!ending_ && ended_ < plan_->ranks) watch_for_stalls();
  });
}

// Whether some rank is in a call. Or all that live are stopped, though no debugger holds them: nobody is held up by
// that, and nothing would ever end it.
bool Supervisor::must_go_on() const {
  bool all_stopped = true;
  for (int rank = 0; rank < plan_->ranks; ++rank) {
    if (!alive(rank)) continue;
    const auto last = segment_.last_call(rank);
    const bool in_call = (last && !last->returned) || segment_.awaited_by(rank) >= 0;
    if (in_call && segment_.phase(rank) == RankPhase::active) return true;
    const auto process = all_stopped ? process_of(rank) : std::nullopt;
    all_stopped = process && process->state == 'T';
  }
  return all_stopped;
}

void Supervisor::look_for_stall() {
  if (stopped_ || failure_ || interrupt_) return;
  const bool stands_still = stall_watch_.look(segment_.progress(), must_go_on(), std::chrono::steady_clock::now());
  if (memory_was_cut() || !stands_still) return;
  const auto views = view_ranks();
  announce_waits(views);
  const StallCause cause = stall_cause(views);
  name_failure({.rank = cause.rank,
                .kind = FailureKind::stall,
                .code = kExitTimeout,
                .message = "no call has gone on for " + text_of(plan_->stall_timeout) + ": " + cause.text});
}

void Supervisor::begin_ending() {
  if (ending_) return;
  ending_ = true;
  if (plan_->end_strangers_at_once) {
    for (int rank = 0; rank < plan_->ranks; ++rank)
      if (segment_.phase(rank) == RankPhase::absent) signal_rank(rank, SIGTERM);
  }
  after(courtesy_timer_, plan_->courtesy, [this] {
    const auto suspect = verdict_.decide_now(segment_.first_error());
    if (!failure_ && suspect) name_failure(*suspect);
    signal_all(SIGTERM);
  });
  after(grace_timer_, plan_->courtesy + plan_->grace, [this] { grace_is_over(); });
}

// To a living rank's whole group, each rank at most once.
void Supervisor::signal_rank(int rank, int signal) {
  const pid_t pid = ranks_[static_cast<std::size_t>(rank)];
  if (!alive(rank) || !signalled_processes_.insert(pid).second) return;
  if (::kill(-pid, signal) != 0) ::kill(pid, signal);    // It has moved to a group of its own making.
  if (::kill(-pid, SIGCONT) != 0) ::kill(pid, SIGCONT);  // A stopped process could not act on it.
}

// To everyone below us who is in no living rank's group, each at most once.
void Supervisor::signal_strangers(int signal) {
  for (const Process& process : descendants()) {
    if (rank_of(process.group) || !signalled_processes_.insert(process.pid).second) continue;
    ::kill(process.pid, signal);
    ::kill(process.pid, SIGCONT);
  }
}

// Whoever is forked after a look at the processes is found by the next.
void Supervisor::keep_signalling_strangers(int signal) {
  signal_strangers(signal);
  after(sweep_timer_, kSweepInterval, [this, signal] {
    if (!killing_ && !finishing_) keep_signalling_strangers(signal);
  });
}

void Supervisor::signal_all(int signal) {
  for (int rank = 0; rank < plan_->ranks; ++rank) signal_rank(rank, signal);
  signal_strangers(signal);
}

void Supervisor::received(int signal) {
  switch (signal) {
    case SIGTSTP:
    case SIGCONT:
      stopped_ = signal == SIGTSTP;
      stall_watch_.begin_anew();
      pass_on(signal);
      return;
    case SIGUSR1:
    case SIGUSR2:
      pass_on(signal);
      return;
    case SIGQUIT:
      announce_waits(view_ranks());
      memory_was_cut();
      return;
    default:
      interrupted(signal);
  }
}

void Supervisor::pass_on(int signal) {
  for (int rank = 0; rank < plan_->ranks; ++rank)
    if (alive(rank)) ::kill(-ranks_[static_cast<std::size_t>(rank)], signal);
}

/// Who stops a job by sending SIGTERM to every process of it, as systemd and batch systems do, sends it here twice: by
/// itself, and by shoalrun, which passes its own on. That is one wish.
bool Supervisor::is_same_wish(int signal) {
  if (signal != SIGTERM) return false;
  const auto now = std::chrono::steady_clock::now();
  if (terminated_) return now - *terminated_ < kSameWish;
  terminated_ = now;
  return false;
}

void Supervisor::interrupted(int signal) {
  if (is_same_wish(signal)) return;
  const bool first = !signalled_;
  signalled_ = true;
  if (first && !failure_) interrupt_ = signal;
  if (!first || ended_ == plan_->ranks) {
    kill_all();
    return;
  }
  if (interrupt_) {
    output_->announce(signal_name(signal) + ": passed on to the ranks, which have " + text_of(plan_->grace) +
                      " to end");
  }
  courtesy_timer_.cancel();
  for (int rank = 0; rank < plan_->ranks; ++rank) {
    signalled_processes_.erase(ranks_[static_cast<std::size_t>(rank)]);
    signal_rank(rank, signal);
  }
  if (ending_) return;  // The grace is running.
  ending_ = true;
  after(grace_timer_, plan_->grace, [this] { grace_is_over(); });
}

void Supervisor::launcher_gone() {
  abandoned_ = true;
  segment_.abort({.rank = -1, .kind = FailureKind::signal, .code = SIGKILL, .message = "the launcher was ended"});
  kill_all();
}

void Supervisor::grace_is_over() {
  std::vector<int> left;
  for (int rank = 0; rank < plan_->ranks; ++rank)
    if (alive(rank)) left.push_back(rank);
  if (!left.empty()) output_->announce(list_of(left) + " did not end within " + text_of(plan_->grace) + ": killed");
  kill_all();
}

// Whoever forks while we look is found in the next sweep.
void Supervisor::kill_all() {
  const auto now = std::chrono::steady_clock::now();
  if (!killing_) {
    killing_ = true;
    kill_deadline_ = now + kKillTime;
  }
  for (int rank = 0; rank < plan_->ranks; ++rank)
    if (alive(rank)) ::kill(-ranks_[static_cast<std::size_t>(rank)], SIGKILL);
  for (const Process& process : descendants()) ::kill(process.pid, SIGKILL);
  if (reaper_.childless()) {
    finish();
    return;
  }
  if (now > kill_deadline_) {
    if (!finishing_ && !abandoned_) output_->announce("some processes of the job outlive SIGKILL; left as they are");
    finish();
    return;
  }
  after(sweep_timer_, kSweepInterval, [this] {
    children_changed();
    if (!finishing_) kill_all();
  });
}

void Supervisor::end_leftovers() {
  if (finishing_) return;
  if (reaper_.childless()) {
    finish();
    return;
  }
  if (killing_ || sweeping_) return;
  sweeping_ = true;
  if (ending_) {
    // A rank's wrapper is gone, the program below it may still be saving its work: it has until the grace.
    keep_signalling_strangers(SIGTERM);
    return;
  }
  after(sweep_timer_, kLeftoverTime, [this] {
    keep_signalling_strangers(SIGTERM);
    after(leftover_timer_, kLeftoverGrace, [this] { kill_all(); });
  });
}

void Supervisor::finish() {
  if (finishing_) {
    if (signalled_ || abandoned_) {  // Nobody takes the output, and now nobody wants it.
      output_dropped_ = true;
      loop_.stop();
    }
    return;
  }
  finishing_ = true;
  job_timer_.cancel();
  stall_timer_.cancel();
  if (abandoned_) {
    loop_.stop();
    return;
  }
  // Who sets the job a limit does not wait for a reader that takes nothing.
  if (failure_ && failure_->kind == FailureKind::timeout && failure_->rank < 0) {
    after(grace_timer_, plan_->grace, [this] { loop_.stop(); });
  }
  output_->finish([this] { loop_.stop(); });
}

int Supervisor::exit_code() const {
  const auto zero = [this](int rank) { return board_->wait_status(rank) == 0; };
  bool all_zero = true;
  for (int rank = 0; rank < plan_->ranks; ++rank) all_zero = all_zero && zero(rank);
  if (interrupt_) return all_zero && !output_dropped_ ? 0 : exit_code_of_signal(*interrupt_);
  return failure_ ? exit_code_of_failure(*failure_) : 0;
}

}  // namespace shoal::detail
