#pragma once

#include <filesystem>
#include <optional>

#include "shoal/shoal.h"
#include "train/dataset.h"

namespace shoal::train {

/// All ranks together: rank 0 reads the data set and sends it around, so that all ranks have the same data or none.
/// If it cannot be read, rank 0 throws InputError; the others wait for it until it has left, and throw `peer_lost`.
Dataset read_on_rank_0(Communicator& comm, const std::filesystem::path& directory, std::optional<std::size_t> classes);

}  // namespace shoal::train
