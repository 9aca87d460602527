#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace shoal::plan {

/// A file that the seed's own code wrote.
inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(std::string(PLAN_GOLDEN) + "/" + name);
  return nlohmann::json::parse(file);
}

}  // namespace shoal::plan
