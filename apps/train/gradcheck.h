#pragma once

#include <span>
#include <string>

#include "shoal/shoal.h"
#include "train/layout.h"
#include "train/options.h"

namespace shoal::train {

/// MSE of the MLP in double precision, by plain loops: the reference that central differences are taken of.
double reference_loss(const Layout& layout, std::span<const double> parameters, std::span<const float> x,
                      std::span<const float> y);

/// Loss and gradient of one batch by the code that trains, compared with central differences of reference_loss at
/// parameters spread over the vector. Returns the JSON line to print. `comm` is a world of one.
///
/// Throws InputError for files that do not fit `dims` or each other.
std::string run_gradcheck(Communicator& comm, const GradcheckOptions& options);

}  // namespace shoal::train
