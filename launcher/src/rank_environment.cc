#include "rank_environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace shoal::detail {
namespace {

std::string_view key_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

void set(std::vector<std::string>& environment, const std::string& entry) {
  std::erase_if(environment, [&](const std::string& old) { return key_of(old) == key_of(entry); });
  environment.push_back(entry);
}

}  // namespace

std::vector<std::string> rank_environment(const std::vector<std::string>& inherited,
                                          const std::vector<std::string>& additions, const RankPlace& place) {
  std::vector<std::string> environment = inherited;
  for (const std::string& entry : additions) set(environment, entry);
  const std::string rank = std::to_string(place.rank);
  const std::string world = std::to_string(place.world);
  // One machine: the local world is the world.
  for (const char* prefix : {"SHOAL_", ""}) {
    const auto tell = [&](const char* name, const std::string& value) {
      set(environment, std::string(prefix).append(name).append("=").append(value));
    };
    tell("RANK", rank);
    tell("WORLD_SIZE", world);
    tell("LOCAL_RANK", rank);
    tell("LOCAL_WORLD_SIZE", world);
  }
  set(environment, "SHOAL_JOB=" + place.job);
  set(environment, "SHOAL_RESTART_COUNT=" + std::to_string(place.restarts));
  set(environment, std::string("SHOAL_TERMINAL=") + (place.terminal ? "1" : "0"));
  return environment;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace shoal::detail
