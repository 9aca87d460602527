#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/collectives/options.h"
#include "shoal/runtime/communicator.h"

// Which algorithm a call uses: a pure function of what all ranks know, so that all choose alike.

namespace shoal::detail {

/// The algorithms that can do `operation`; first the one that suits large messages, and of those that reduce the ring
/// last, whose order is another. Empty for operations that have no choice.
std::span<const Algorithm> algorithms_of(Operation operation);

/// What a reducing operation combines, and how: not every algorithm can for every type.
struct Reduction {
  ReduceOp op = ReduceOp::sum;
  DataType type = DataType::byte;
};

/// Of the whole vector, where all ranks know it; else 0.
struct CallSize {
  std::uint64_t bytes = 0;
  int ranks = 1;
  DataType type = DataType::byte;
};

/// Up to here a root does not wait for the others, which a channel's capacity spares it.
inline constexpr std::uint64_t kStreamedBytes = std::uint64_t{16} << 10;
/// Up to here every rank may well look at the lines of all others, in each round of arrivals.
inline constexpr int kMostLookedAt = 64;

/// What a call uses that asks for nothing: of those that can, and for reductions follow the canonical order, the one
/// that should be the fastest.
Algorithm default_algorithm(Operation operation, std::optional<Reduction> reduction, CallSize size,
                            const Calibration& calibration);

/// All that the default is chosen from, and how long each should take.
std::vector<Candidate> candidates(Operation operation, std::optional<Reduction> reduction, CallSize size,
                                  const Calibration& calibration);

/// Whether the default depends on sizes and figures.
bool has_choice(Operation operation);

/// SHOAL_ALGORITHM: for each operation the algorithm it names, `automatic` where it names none.
struct AlgorithmChoices {
  std::array<Algorithm, kOperationCount> by_operation{};
  std::string mistake;  ///< What is wrong with the text; empty if nothing is.
};

/// Reads `all_reduce:ring,broadcast:binomial`.
AlgorithmChoices parse_algorithm_choices(std::string_view text);

/// The environment's, read once.
const AlgorithmChoices& environment_choices();

struct Selection {
  Algorithm algorithm = Algorithm::automatic;
  std::string mistake;  ///< Why what is asked for cannot be; empty if it can.
};

/// `asked`, or where that is automatic what `choices` say; `automatic` if neither names one.
Algorithm forced_algorithm(Operation operation, Algorithm asked, const AlgorithmChoices& choices);

/// The algorithm that is forced, or else the default. `reduction`: of a reducing operation.
Selection select(Operation operation, Algorithm asked, std::optional<Reduction> reduction,
                 const AlgorithmChoices& choices, CallSize size = {},
                 const Calibration& calibration = kReferenceCalibration);

/// Sets call.algorithm for a call with `options`, or refuses the call.
void select_algorithm(Communicator& comm, Call& call, const Options& options);
/// The same, and call.steps; `whole`: elements of the whole vector as far as this rank knows.
void select_algorithm(Communicator& comm, Call& call, std::uint64_t whole, const Options& options);

}  // namespace shoal::detail
