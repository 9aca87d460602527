#pragma once

#include "shoal/runtime/log.h"

namespace shoal::detail {

/// Makes this process's logger, for `rank`; level from SHOAL_LOG. Throws Error `invalid_argument` if that names none.
void make_rank_logger(int rank);

}  // namespace shoal::detail
