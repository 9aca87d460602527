// How long a call should take: what its algorithm does one after the other (rounds of arrivals, steps through channels,
// messages that stream), each at the price of hops between cores and switches between ranks that share one; and the
// bytes that the cores copy, at the rates of copies in a core's own caches and out of them.
//
// All ranks do their part at the same time, but no more than there are cores. So bytes are those that one core copies:
// of P ranks on C cores it has P/C, its *share*. What one rank has written crosses to another's core at the rate of
// uncached copies; ranks that share a core find it in their caches, and so does whoever reads what another one there
// has read before.
//
//     algorithms           latency                         bytes copied for each rank
//     tiny, slots, direct  rounds                          what it shows, into staging; what it reads of the others
//     through channels     steps of the busiest rank       what it receives, into the channel and out of it
//     those that stream    messages of all ranks / cores   the same, but nobody waits to be waited for
//
// The figures of the machine are measured; the factors below, fitted to times taken at 2 to 8 ranks, belong to the
// algorithms (docs/performance.md).

#include "prediction.h"

#include <algorithm>
#include <bit>

#include "algorithms.h"
#include "closed_form.h"
#include "notices.h"
#include "selection.h"

namespace shoal::detail {
namespace {

/// Hops on the critical path of a step, and what the two calls do besides.
constexpr double kStepHops = 5;
/// More, for a message that its envelope does not hold.
constexpr double kLongHops = 2.5;
constexpr double kEnvelopeBytes = 40;
/// Of a round: the own line out, the last other one in.
constexpr double kRoundHops = 3.75;
/// One line more: to what was shown.
constexpr double kShownHops = 3;
/// For each line that a rank looks at, beside the last one.
constexpr double kLineHops = 0.25;
/// Of a message that nobody waits for, both its ends.
constexpr double kStreamedHops = 5;
/// Yields, for each rank that a core has to let run, until all have arrived in a round; until one has come in a step.
constexpr double kRoundYields = 5;
constexpr double kStepYields = 3.25;
/// Copies take longer than those measured: into lines that another core has read, and out of those it has just written.
constexpr double kCachedCopies = 2.15;
constexpr double kCrossings = 2.33;
/// A channel passes a message on in pieces of this size; whoever waits for the next lets others run.
constexpr double kPieceBytes = 64 << 10;

class Model {
 public:
  explicit Model(const CostQuery& query)
      : query_(query),
        ranks_(query.ranks),
        bytes_(static_cast<double>(query.count) * static_cast<double>(element_bytes(query.type))),
        machine_(query.calibration),
        cores_(std::min<double>(ranks_, machine_.cores)),
        share_(ranks_ / cores_),
        in_place_(query.algorithm == Algorithm::direct && bytes_ >= in_place_bytes(kStagingBytes) && share_ <= 1) {
    // Where a core's ranks have more than its caches hold, nothing that they copy is there.
    const bool fits = 2 * bytes_ * share_ <= machine_.cache_bytes;
    crossing_ns_ = (in_place_ ? 1 : kCrossings) / machine_.uncached_bytes_per_ns;
    cached_ns_ = kCachedCopies / machine_.cached_bytes_per_ns;
    if (!fits) cached_ns_ = std::max(cached_ns_, crossing_ns_);
  }

  double rounds() const;
  double streamed() const;
  double steps() const;

 private:
  /// What a switch costs where ranks take turns: for every rank that a core has besides one.
  double yields(double factor) const { return (share_ - 1) * factor * machine_.yield_ns; }
  double step() const { return kStepHops * machine_.hop_ns + yields(kStepYields); }
  /// Of a byte that goes through a channel: in, and out, which is a crossing where the other rank is on another core.
  double through_channel() const {
    const double abroad = (ranks_ - share_) / (ranks_ - 1);
    return cached_ns_ + abroad * crossing_ns_ + (1 - abroad) * cached_ns_;
  }
  double pieces(double bytes) const { return yields(kStepYields) * bytes / kPieceBytes; }

  /// Each rank reads, of each other one, `bytes` that no other rank reads.
  double read_apart(double bytes) const {
    return share_ * ((ranks_ - share_) * crossing_ns_ + (share_ - 1) * cached_ns_) * bytes;
  }
  /// Each rank reads of each other one the same `bytes` as all.
  double read_by_all(double bytes) const {
    const double crossing = (ranks_ - share_) * bytes;
    return crossing * crossing_ns_ + (share_ * (ranks_ - 1) * bytes - crossing) * cached_ns_;
  }
  /// What a rank copies to show it. Nobody knows where the others' data lie; but most ranks' is read in place, in the
  /// shared heap or through the kernel, and has not just been written there.
  double shown(double bytes) const { return in_place_ ? 0 : share_ * bytes * cached_ns_; }
  double copied_between_ranks() const;

  const CostQuery& query_;
  double ranks_;
  double bytes_;
  const Calibration& machine_;
  double cores_;
  double share_;
  bool in_place_;
  double cached_ns_;
  double crossing_ns_;
};

Cost at_root(CostQuery query) {
  query.rank = 0;
  query.root = 0;
  return closed_form(query);
}

double Model::rounds() const {
  const bool tiny = query_.algorithm == Algorithm::tiny;
  const double hops = kRoundHops + (tiny ? 0 : kShownHops) + kLineHops * (ranks_ - 1);
  const double round = hops * machine_.hop_ns + yields(kRoundYields);
  // In place there is one block, and a round to end with.
  const double count = in_place_ ? 2 : static_cast<double>(at_root(query_).steps);
  return count * round + (tiny ? 0 : copied_between_ranks());
}

double Model::copied_between_ranks() const {
  const double chunk = bytes_ / ranks_;
  // One reader: the crossing has nobody to share the way with.
  const double to_root = (bytes_ - chunk) * crossing_ns_ / 2;
  switch (query_.operation) {
    case Operation::broadcast:
      // All do their part of it.
      if (in_place_) return share_ * (ranks_ - 1) / ranks_ * bytes_ * crossing_ns_;
      // The root's core has it; each other one fetches it, one way.
      return shown(bytes_) / share_ + ((cores_ - 1) / cores_ * crossing_ns_ + (share_ - 1) * cached_ns_) * bytes_;
    case Operation::all_gather:
      return shown(chunk) + read_by_all(chunk);
    case Operation::all_reduce:
      if (query_.algorithm == Algorithm::slots) return shown(bytes_) + read_by_all(bytes_);
      return shown(bytes_ - chunk) + read_apart(chunk) + shown(chunk) + read_by_all(chunk);
    case Operation::reduce:
      return shown(bytes_ - chunk) + read_apart(chunk) + shown(chunk) + to_root;
    default:
      return shown(bytes_ - chunk) + read_apart(chunk);
  }
}

// Each message is sent without a look at who takes it, so that many are under way at once. What all cores do together
// is the time, or the longest way that a message takes.
double Model::streamed() const {
  const bool chain = query_.algorithm == Algorithm::pipelined;
  const double levels = static_cast<double>(std::bit_width(static_cast<unsigned>(query_.ranks - 1)));
  const double blocks =
      chain ? static_cast<double>(blocks_in(static_cast<std::uint64_t>(bytes_), kBroadcastBlockBytes)) : 1;
  const double depth = chain ? ranks_ - 1 : levels;
  const double latency = kStreamedHops * machine_.hop_ns * std::max((ranks_ - 1) * blocks / cores_, depth / 2);

  // To fold a byte takes another one to fold it into.
  const double per_byte = through_channel() + (reduces(query_.operation) ? cached_ns_ : 0);
  const double of_all = (ranks_ - 1) * bytes_ * per_byte / cores_;
  // Blocks go down the chain at once: a rank receives and sends them. Whole messages go level by level.
  const double passed_on = chain ? 2 : levels;
  const double of_path = passed_on * bytes_ * crossing_ns_ / 2;
  const double waits = bytes_ > kPieceBytes ? passed_on * pieces(bytes_ - kPieceBytes) : 0;
  return latency + std::max(of_all, of_path) + waits;
}

double Model::steps() const {
  const Cost cost = at_root(query_);
  const auto count = static_cast<double>(cost.steps);
  const auto bytes = static_cast<double>(std::max(cost.sent, cost.received));
  const double long_messages = bytes > kEnvelopeBytes * count ? count : 0;
  // Those that pass partial results on work on a copy.
  const bool on_copy = reduces(query_.operation) && query_.algorithm != Algorithm::pairwise;
  return count * step() + long_messages * kLongHops * machine_.hop_ns + share_ * bytes * through_channel() +
         pieces(bytes) + (on_copy ? share_ * bytes_ * cached_ns_ : 0);
}

}  // namespace

double predicted_ns(const CostQuery& query) {
  if (query.ranks == 1) return 0;
  const Model model(query);
  if (query.algorithm == Algorithm::tiny || shows(query.algorithm)) return model.rounds();
  const bool streams = query.operation == Operation::broadcast ||
                       (query.operation == Operation::reduce && query.algorithm == Algorithm::binomial);
  return streams ? model.streamed() : model.steps();
}

}  // namespace shoal::detail
