// shoal-plan: the plan by which training shares out its samples, as JSON.
#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plan/check.h"
#include "plan/json.h"
#include "plan/microbatches.h"
#include "plan/phases.h"
#include "plan/plan_error.h"
#include "plan/weights.h"
#include "program/numbers.h"
#include "program/program.h"
#include "shoal/runtime/session.h"

namespace shoal::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kIndent = 2;
constexpr std::uint64_t kMostPrinted = std::uint64_t{1} << 28U;

/// An option that takes a whole number from 0 on. CLI11 would also take -1 and 1e3.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::uint64_t& into, const std::string& text) {
  return app.add_option_function<std::string>(
      name,
      [&into, name](const std::string& value) {
        const auto number = whole_number(value);
        if (!number) throw CLI::ValidationError(name + " " + value, "not a whole number from 0 to 2^64 - 1");
        into = *number;
      },
      text);
}

std::vector<std::uint64_t> numbers_of(const std::string& option, const std::string& text) {
  std::vector<std::uint64_t> numbers;
  if (text.empty()) return numbers;
  for (const std::string& part : split_at_commas(text)) {
    const auto number = whole_number(part);
    if (!number)
      throw UsageError(option + " " + text + ": '" + part + "' is not a whole number; it takes a list, as in 7,12,3");
    numbers.push_back(*number);
  }
  return numbers;
}

Json check() {
  const CheckSettings settings;
  const CheckedPlan checked = check_plan(settings);
  const PhaseSizes& sizes = settings.sizes;
  return {{"status", "PASS"},
          {"strong_unique_samples", checked.strong_unique_samples},
          {"strong_union_sha256", checked.strong_union_sha256},
          {"worlds", settings.worlds},
          {"global_batch_strong", sizes.strong_batch},
          {"per_gpu_weak", sizes.weak_batch},
          {"strong_warmup_updates", sizes.strong_warmup},
          {"strong_steady_updates", sizes.strong_updates - sizes.strong_warmup},
          {"weak_warmup_updates", sizes.weak_warmup},
          {"weak_steady_updates", sizes.weak_updates - sizes.weak_warmup},
          {"weak_input_rule",
           "Exact same eight real per-GPU streams, replicated once across the additional eight GPUs at four nodes. "
           "Benchmark-only repetitions, explicitly counted as presentations."},
          {"loss_weighting",
           "Exact global per-channel supervised-token mean, independent of rank and microbatch partition."}};
}

/// What a subcommand is given, and what it prints.
struct Arguments {
  std::uint64_t world = 0;
  PhaseSizes sizes;
  std::string phase;
  std::uint64_t step = 0;
  std::uint64_t rank = 0;
  std::uint64_t samples = 0;
  std::string lengths;
  MicrobatchLimits limits;
  TokenCounts tokens;
  Channels channels;
};

void add_sizes(CLI::App& app, PhaseSizes& sizes) {
  add_number(app, "--strong-batch", sizes.strong_batch, "Samples of a strong update, of all ranks (256)");
  add_number(app, "--strong-updates", sizes.strong_updates, "Those of the warm-up included (40)");
  add_number(app, "--strong-warmup", sizes.strong_warmup, "Updates that no rate counts (10)");
  add_number(app, "--weak-batch", sizes.weak_batch, "Samples of a weak update, of each rank (32)");
  add_number(app, "--weak-updates", sizes.weak_updates, "Those of the warm-up included (12)");
  add_number(app, "--weak-warmup", sizes.weak_warmup, "Updates that no rate counts (4)");
  add_number(app, "--weak-base-world", sizes.weak_base_world, "Ranks with streams of their own (8)");
}

void add_phases(CLI::App& app, Arguments& arguments) {
  add_number(app, "--world", arguments.world, "Number of ranks")->required();
  add_sizes(app, arguments.sizes);
}

void add_indices(CLI::App& app, Arguments& arguments) {
  add_phases(app, arguments);
  app.add_option("--phase", arguments.phase, "strong or weak")->required()->check(CLI::IsMember({"strong", "weak"}));
  add_number(app, "--step", arguments.step, "The update, from 0")->required();
  add_number(app, "--rank", arguments.rank, "From 0")->required();
  add_number(app, "--samples", arguments.samples, "How many there are")->required();
}

void add_microbatches(CLI::App& app, Arguments& arguments) {
  app.add_option("--lengths", arguments.lengths, "Tokens of each example of one batch, as in 7,12,3")->required();
  add_number(app, "--max-padded-tokens", arguments.limits.max_padded_tokens,
             "Of a microbatch, its examples padded to the longest (12000)");
  add_number(app, "--max-examples", arguments.limits.max_examples, "Of a microbatch (16)");
}

void add_weights(CLI::App& app, Arguments& arguments) {
  add_number(app, "--local-frames", arguments.tokens.local_frames, "Of this microbatch")->required();
  add_number(app, "--local-samples", arguments.tokens.local_samples, "Of this microbatch")->required();
  add_number(app, "--global-frames", arguments.tokens.global_frames, "Of the update, on all ranks")->required();
  add_number(app, "--global-samples", arguments.tokens.global_samples, "Of the update, on all ranks")->required();
  add_number(app, "--world", arguments.world, "Number of ranks")->required();
  add_number(app, "--channels", arguments.channels.audio, "Beside that of text (12)");
  app.add_option("--channels-weight", arguments.channels.audio_weight, "Theirs together, where text has 1 (32)");
}

std::string phases(const Arguments& arguments) {
  Json json = Json::array();
  for (const Phase& phase : benchmark_phases(arguments.world, arguments.sizes)) json.push_back(to_json(phase));
  return json.dump(kIndent);
}

std::string indices(const Arguments& arguments) {
  const auto [strong, weak] = benchmark_phases(arguments.world, arguments.sizes);
  const Phase& phase = arguments.phase == strong.name ? strong : weak;
  if (batch_of_rank(phase, arguments.rank, arguments.world) > kMostPrinted)
    throw UsageError("--" + phase.name + "-batch: more than 2^28 ids of a rank");
  return Json(step_indices(phase, arguments.step, arguments.rank, arguments.world, arguments.samples)).dump();
}

std::string cut(const Arguments& arguments) {
  return Json(microbatches(numbers_of("--lengths", arguments.lengths), arguments.limits)).dump();
}

std::string weights(const Arguments& arguments) {
  const auto [weights, scale] = dynamic_weights(arguments.tokens, arguments.world, arguments.channels);
  return Json{{"weights", weights}, {"scale", scale}}.dump(kIndent);
}

struct Subcommand {
  std::string name;
  std::string help;
  void (*add_options)(CLI::App&, Arguments&);
  std::string (*text)(const Arguments&);
};

const std::array<Subcommand, 5> kSubcommands{{
    {"check", "Checks the phases and weights; prints what they come to", [](CLI::App&, Arguments&) {},
     [](const Arguments&) { return check().dump(kIndent); }},
    {"phases", "The benchmark's phases", add_phases, phases},
    {"indices", "Ids of the samples that a rank has in an update of a phase", add_indices, indices},
    {"microbatches", "Positions in a batch, cut into microbatches", add_microbatches, cut},
    {"weights", "Of a loss's channels, for the mean over all tokens", add_weights, weights},
}};

int run_program(int argc, const char* const* argv) {
  CLI::App app("How samples are shared out among ranks, updates and microbatches, as JSON.", "shoal-plan");
  app.require_subcommand(1);
  Arguments arguments;
  std::vector<std::pair<CLI::App*, const Subcommand*>> subcommands;
  for (const Subcommand& subcommand : kSubcommands) {
    subcommands.emplace_back(app.add_subcommand(subcommand.name, subcommand.help), &subcommand);
    subcommand.add_options(*subcommands.back().first, arguments);
  }
  std::string json;
  const auto parse = [&] {
    auto text = parse_command_line(app, argc, argv);
    if (text) return text;
    try {
      for (const auto& [parsed, subcommand] : subcommands)
        if (parsed->parsed()) json = subcommand->text(arguments) + "\n";
    } catch (const PlanError& error) {
      throw UsageError(error.what());
    }
    return text;
  };
  return shoal::run_program({.name = app.get_name(), .parse = parse, .run = [&](Session& session) {
                               if (session.world().size() > 1)
                                 throw UsageError("runs in one process, without shoalrun or with -n 1");
                               std::cout << json;
                               return 0;
                             }});
}

}  // namespace
}  // namespace shoal::plan

int main(int argc, char** argv) { return shoal::plan::run_program(argc, argv); }
