#pragma once

#include <memory>

namespace spdlog {
class logger;
}

namespace shoal {

/// This rank's logger (standard error, level from SHOAL_LOG, warn unless set). Made by Session, after any fork.
/// Before there is a session it is a logger that drops everything.
spdlog::logger& log();

}  // namespace shoal
