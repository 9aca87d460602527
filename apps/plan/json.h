#pragma once

#include <nlohmann/json.hpp>

#include "plan/phases.h"

namespace shoal::plan {

/// As the seed's program has it: a phase without replication does not name a base world.
inline nlohmann::ordered_json to_json(const Phase& phase) {
  nlohmann::ordered_json json{{"name", phase.name},
                              {"offset", phase.offset},
                              {"global_batch", phase.global_batch},
                              {"updates", phase.updates},
                              {"warmup", phase.warmup}};
  if (phase.replicated_base_world) json["replicated_base_world"] = *phase.replicated_base_world;
  return json;
}

}  // namespace shoal::plan
