#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bench/method.h"

// What the peers' programs share: f32 in ordinary memory, sizes and figures as those of shoal-bench. They take
//
//     OP[,OP...] SIZE[,SIZE...] SECONDS        sizes in bytes
//
// and print `op bytes microseconds`.

namespace shoal::bench {

inline std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

struct PeerArguments {
  explicit PeerArguments(char** argv) : operations(listed(argv[0])), seconds(std::atof(argv[2])) {
    for (const std::string& size : listed(argv[1])) sizes.push_back(std::stoull(size));
  }
  std::size_t most_elements() const { return *std::ranges::max_element(sizes) / sizeof(float); }

  std::vector<std::string> operations;
  std::vector<std::size_t> sizes;
  double seconds;
};

/// An operation on a vector of that many elements.
using PeerOperation = std::function<void(std::size_t)>;

/// Times what is asked of `known`; a library need not have everything.
template <class Meet, class Slowest>
void time_peer(const PeerArguments& arguments, int rank, int ranks, const std::map<std::string, PeerOperation>& known,
               Meet&& meet, Slowest&& slowest) {
  for (const std::string& name : arguments.operations) {
    const auto found = known.find(name);
    if (found == known.end()) continue;
    const bool has_data = name != "barrier";
    for (const std::size_t size : has_data ? arguments.sizes : std::vector<std::size_t>{0}) {
      const std::size_t elements = size / sizeof(float);
      if (has_data && elements < static_cast<std::size_t>(ranks)) continue;
      const Times times = time_calls(
          size, arguments.seconds, [&] { found->second(elements); }, meet, slowest);
      if (rank != 0) continue;
      std::printf("%s %zu %.3f\n", name.c_str(), size, times.median() * 1e6);
      std::fflush(stdout);
    }
  }
}

}  // namespace shoal::bench
