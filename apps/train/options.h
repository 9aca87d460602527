#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/microbatches.h"
#include "shoal/runtime/operation.h"
#include "train/objective.h"
#include "train/optimizer.h"
#include "train/parameter_store.h"
#include "train/schedule.h"

namespace shoal::train {

/// What the command line asks for, with defaults filled in.
struct TrainOptions {
  std::string data;
  Task task = Task::classify;
  std::vector<std::size_t> dims;
  int stage = 2;
  OptimizerSettings optimizer = {};
  Schedule schedule = {};  ///< Its number of updates comes with the data.
  Precision precision = Precision::f32;
  std::optional<double> clip = std::nullopt;
  std::size_t batch = 256;
  std::size_t accumulate = 1;                                   ///< Microbatches of an update.
  std::optional<plan::MicrobatchLimits> limits = std::nullopt;  ///< Of what a lane computes at once.
  std::optional<std::uint64_t> steps;                           ///< One of the two, or neither: one epoch.
  std::optional<std::uint64_t> epochs;
  std::uint64_t seed = 0;
  std::size_t lanes = 16;
  std::optional<std::string> phase = std::nullopt;  ///< "strong" or "weak": it decides batch and steps.
  Algorithm algorithm = Algorithm::automatic;
  std::optional<std::filesystem::path> init = std::nullopt;
  std::optional<std::filesystem::path> checkpoints = std::nullopt;  ///< Directory.
  std::uint64_t checkpoint_every = 0;                               ///< Steps; 0: after the last one only.
  std::size_t checkpoint_keep = 0;                                  ///< The newest so many; 0: all.
  bool resume = false;
  std::optional<std::filesystem::path> export_file = std::nullopt;
  std::string report;  ///< File, "-" for standard output, empty for none.
  std::string progress = "auto";
};

struct GradcheckOptions {
  std::vector<std::size_t> dims;
  std::filesystem::path theta;
  std::filesystem::path x;
  std::filesystem::path y;
  std::optional<std::filesystem::path> out;
};

struct CommandLine {
  std::optional<TrainOptions> train;  ///< Exactly one of these three is there.
  std::optional<GradcheckOptions> gradcheck;
  std::optional<std::string> text;  ///< Help or version: to be printed, and no more to be done.
};

/// The widths of a model, "784,256,10". Throws UsageError that names --dims.
std::vector<std::size_t> parse_dims(const std::string& text);

/// Throws UsageError with one message that names the option.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace shoal::train
