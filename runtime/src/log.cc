#include <fmt/format.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "log_setup.h"
#include "shoal/runtime/error.h"

// One logger a process, made after the fork: a logger that existed before would share its lock and its buffer's
// state with the parent's.

namespace shoal {
namespace {

std::shared_ptr<spdlog::logger>& current() {
  static std::shared_ptr<spdlog::logger> logger =
      std::make_shared<spdlog::logger>("shoal", std::make_shared<spdlog::sinks::null_sink_mt>());
  return logger;
}

spdlog::level::level_enum level_from_environment() {
  const char* const wanted = std::getenv("SHOAL_LOG");
  if (wanted == nullptr || *wanted == '\0') return spdlog::level::warn;
  constexpr std::array<std::string_view, 6> kLevels{"off", "error", "warn", "info", "debug", "trace"};
  if (std::ranges::find(kLevels, wanted) == kLevels.end())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("SHOAL_LOG={} is not one of {}", wanted, fmt::join(kLevels, ", ")));
  return spdlog::level::from_str(wanted);
}

}  // namespace

spdlog::logger& log() { return *current(); }

namespace detail {

void make_rank_logger(int rank) {
  const auto level = level_from_environment();
  auto logger = std::make_shared<spdlog::logger>("shoal", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(fmt::format("%H:%M:%S.%e shoal rank {} %l: %v", rank));
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  current() = logger;
}

}  // namespace detail
}  // namespace shoal
