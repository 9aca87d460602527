#include "job_report.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "command_line.h"
#include "exit_status.h"

namespace shoal::detail {
namespace {

using nlohmann::ordered_json;

ordered_json text_or_null(bool has, const std::string& text) {
  return has ? ordered_json(text) : ordered_json(nullptr);
}

ordered_json failure_json(const FirstFailure& failure) {
  const bool by_signal = failure.kind == FailureKind::signal;
  return {{"rank", failure.rank}, {"kind", name(failure.kind)},
          {"code", failure.code}, {"signal", text_or_null(by_signal, signal_name(failure.code))},
          {"last_op", nullptr},   {"call", nullptr},
          {"sequence", nullptr},  {"message", failure.message}};
}

ordered_json failure_json(const JobSegment& segment, const FirstFailure& failure) {
  ordered_json json = failure_json(failure);
  if (const auto last = failure.rank >= 0 ? segment.last_call(failure.rank) : std::nullopt) {
    json["last_op"] = name(last->call.operation);
    json["call"] = last->number;
    json["sequence"] = last->sequence;
  }
  return json;
}

ordered_json rank_json(const JobRun& job, int rank) {
  const JobBoard& board = job.board();
  // Whoever never ended in the guard's sight was ended with the guard.
  const int status = board.wait_status(rank).value_or(SIGKILL);
  const Usage usage = board.usage(rank);
  const Traffic traffic = job.segment().traffic(rank);
  std::uint64_t operations = 0;
  for (const auto& [operation, count] : traffic.by_op) operations += count.calls;
  const bool started = board.process(rank) != 0;
  return {{"rank", rank},
          {"pid", started ? ordered_json(board.process(rank)) : ordered_json(nullptr)},
          {"exit_code", started ? ordered_json(exit_code_of_wait(status)) : ordered_json(nullptr)},
          {"signal", text_or_null(started && WIFSIGNALED(status), signal_name(WTERMSIG(status)))},
          {"user_s", usage.user_s},
          {"system_s", usage.system_s},
          {"max_rss_bytes", usage.max_rss_bytes},
          {"bytes_sent", traffic.sent},
          {"bytes_received", traffic.received},
          {"operations", operations}};
}

// What each rank did last, so that it can be told who did what, and when, as the job failed.
ordered_json recorder_json(const JobRun& job) {
  const auto seconds = [&](std::chrono::steady_clock::time_point time) {
    return std::chrono::duration<double>(time - job.begun()).count();
  };
  ordered_json ranks = ordered_json::array();
  for (int rank = 0; rank < job.board().ranks(); ++rank) {
    ordered_json calls = ordered_json::array();
    for (const PastCall& past : job.segment().recent_calls(rank))
      calls.push_back({{"number", past.number},
                       {"op", name(past.call.operation)},
                       {"sequence", past.sequence},
                       {"algorithm", name(past.call.algorithm)},
                       {"type", name(past.call.type)},
                       {"count", past.call.count},
                       {"root", past.call.root},
                       {"start_s", seconds(past.begun)},
                       {"end_s", past.ended ? ordered_json(seconds(*past.ended)) : ordered_json(nullptr)},
                       {"state", !past.ended   ? "running"
                                 : past.failed ? "failed"
                                               : "done"}});
    ranks.push_back({{"rank", rank}, {"calls", std::move(calls)}});
  }
  return ranks;
}

ordered_json report_json(int ranks, int exit_code, double wall_s, int restarts) {
  return {{"schema", "shoal.job/1"}, {"ranks", ranks},           {"exit_code", exit_code},           {"wall_s", wall_s},
          {"restarts", restarts},    {"first_failure", nullptr}, {"per_rank", ordered_json::array()}};
}

ordered_json report_json(const JobRun& job, int restarts, double wall_s) {
  ordered_json report = report_json(job.board().ranks(), job.exit_code(), wall_s, restarts);
  for (int rank = 0; rank < job.board().ranks(); ++rank) report["per_rank"].push_back(rank_json(job, rank));
  if (const auto failure = job.first_failure()) {
    report["first_failure"] = failure_json(job.segment(), *failure);
    report["recorder"] = recorder_json(job);
  }
  return report;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Null with errno. A named pipe that nobody reads is an error, where an ordinary open would wait for a reader.
File open_for_writing(const std::string& file, int flags) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0666);
  if (descriptor < 0) return {nullptr, std::fclose};
  ::fcntl(descriptor, F_SETFL, flags & O_APPEND);
  return {::fdopen(descriptor, "w"), std::fclose};
}

bool write(const std::string& file, const ordered_json& report) {
  // Texts hold what programs and the user wrote: whatever is no UTF-8 is replaced.
  const std::string text = report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (file == "-") return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  File out = open_for_writing(file, O_TRUNC);
  if (!out) return false;
  const bool written = std::fputs(text.c_str(), out.get()) >= 0;
  return std::fclose(out.release()) == 0 && written;
}

bool is_named_pipe(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

void check_report_file(const std::string& file) {
  if (file.empty() || file == "-") return;
  // The reader of a named pipe may come later, and would take an opening and closing for all there is.
  const bool writable =
      is_named_pipe(file) ? ::access(file.c_str(), W_OK) == 0 : open_for_writing(file, O_APPEND) != nullptr;
  if (!writable) throw UsageError("--report " + file + ": " + std::strerror(errno));
}

bool write_report(const std::string& file, const JobRun& job, int restarts, std::chrono::duration<double> wall) {
  return write(file, report_json(job, restarts, wall.count()));
}

bool write_report_of_refusal(const std::string& file, int ranks, int restarts, int exit_code, const std::string& why) {
  ordered_json report = report_json(ranks, exit_code, 0, restarts);
  report["first_failure"] = failure_json({.rank = -1, .kind = FailureKind::exit, .code = exit_code, .message = why});
  return write(file, report);
}

}  // namespace shoal::detail
