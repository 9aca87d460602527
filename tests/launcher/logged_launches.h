#pragma once

#include <gtest/gtest.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "shoal/launcher/launch.h"

namespace shoal::test {

/// A program logs, and forks ranks that log with the same logger, over and over: each line must come once, though what
/// was logged before a fork may still have been in a buffer then.
inline void expect_each_line_once(int launches, int ranks) {
  const std::filesystem::path path = testing::TempDir() + "launch_logging." + std::to_string(::getpid());
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string());
  spdlog::logger logger("test", sink);
  logger.set_pattern("%v");
  for (int i = 0; i < launches; ++i) {
    logger.info("launch {}", i);
    const auto result =
        launch(ranks, [&](Session& session) { logger.info("rank {} of launch {}", session.world().rank(), i); });
    ASSERT_TRUE(result.ok()) << result.exit_code;
  }
  logger.flush();
  std::map<std::string, int> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) ++lines[line];
  std::filesystem::remove(path);
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(launches * (ranks + 1)));
  for (const auto& [line, times] : lines) EXPECT_EQ(times, 1) << line;
}

}  // namespace shoal::test
