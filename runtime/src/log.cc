#include <fmt/format.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <string>

#include "log_setup.h"

// One logger a process, made after the fork: a logger that existed before would share its lock and its buffer's
// state with the parent's.

namespace shoal {
namespace {

std::shared_ptr<spdlog::logger>& current() {
  static std::shared_ptr<spdlog::logger> logger =
      std::make_shared<spdlog::logger>("shoal", std::make_shared<spdlog::sinks::null_sink_mt>());
  return logger;
}

}  // namespace

spdlog::logger& log() { return *current(); }

namespace detail {

void make_rank_logger(int rank) {
  auto logger = std::make_shared<spdlog::logger>("shoal", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(fmt::format("%H:%M:%S.%e shoal rank {} %l: %v", rank));
  const char* wanted = std::getenv("SHOAL_LOG");
  const std::string level_name = wanted != nullptr ? wanted : "warn";
  const auto level = spdlog::level::from_str(level_name);  // `off` for a name that is none.
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  current() = logger;
  if (level == spdlog::level::off && level_name != "off") {
    logger->set_level(spdlog::level::warn);
    logger->warn("SHOAL_LOG={} is not one of off, error, warn, info, debug, trace; taken as warn", level_name);
  }
}

}  // namespace detail
}  // namespace shoal
