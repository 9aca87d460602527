#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "shoal/shoal.h"
#include "train/dataset.h"
#include "train/layout.h"

namespace shoal::train {

/// All ranks together: rank 0 reads the data set and sends it around, so that all ranks have the same data or none.
/// If it cannot be read, rank 0 throws InputError; the others wait for it until it has left, and throw `peer_lost`.
Dataset read_on_rank_0(Communicator& comm, const DataSource& source, std::optional<std::size_t> classes);

/// All ranks together: rank 0 reads the parameters of that model, in flat order, and sends them around. Errors are as
/// above.
std::vector<float> read_parameters_on_rank_0(Communicator& comm, const std::filesystem::path& file,
                                             const Layout& layout);

}  // namespace shoal::train
