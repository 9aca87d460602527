#include "dry_run.h"

#include <sstream>

#include "rank_environment.h"
#include "shoal/runtime/units.h"

namespace shoal::detail {
namespace {

// As a shell would take it for one word.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char character : word) text += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return text + "'";
}

template <class List, class Text>
std::string joined(const List& list, const char* between, Text&& text_of) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : between) + text_of(item);
  return text;
}

}  // namespace

std::string describe_job(const CommandLine& line, const AllowedCores& allowed, const std::vector<Core>& cores,
                         const std::vector<Processors>& placement) {
  std::ostringstream text;
  const int ranks = line.ranks();
  const auto number = [](int processor) { return std::to_string(processor); };
  text << "ranks: " << ranks << "\n";
  text << "cores: " << joined(allowed.cores, ",", number) << " allowed, " << allowed.count() << " at once";
  if (allowed.quota > 0) text << " (the cgroup's quota is " << allowed.quota << ")";
  text << "\n";
  const std::uint64_t bytes = JobSegment::bytes_needed(line.shape());
  text << "shared memory: " << bytes << " bytes (" << format_bytes(bytes)
       << ") of addresses, taken from memory as they are touched; a heap of " << format_bytes(line.heap_bytes)
       << " for each rank, a channel of " << format_bytes(line.channel_bytes)
       << " for each ordered pair; with SHOAL_SEGMENT=posix " << format_bytes(JobSegment::bytes_reserved(line.shape()))
       << " are taken at the start\n";
  for (int rank = 0; rank < ranks; ++rank) {
    const RankProgram& program = line.program_of(rank);
    text << describe_binding(rank, placement[static_cast<std::size_t>(rank)], cores) << "\n";
    text << "  runs: " << joined(program.arguments, " ", quoted) << "\n";
    if (!program.directory.empty()) text << "  in: " << program.directory << "\n";
    if (line.input.reaches(rank)) text << "  reads standard input\n";
    // What is added to the environment that shoalrun was given.
    const auto added =
        rank_environment({}, program.environment, {.rank = rank, .world = ranks, .job = "...", .restarts = 0});
    text << "  environment: " << joined(added, " ", quoted) << "\n";
  }
  return text.str();
}

}  // namespace shoal::detail
