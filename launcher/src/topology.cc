#include "topology.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <set>

namespace shoal::detail {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology new_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) topology = nullptr;
  return {topology, hwloc_topology_destroy};
}

int first_in(hwloc_const_bitmap_t set) { return std::max(0, hwloc_bitmap_first(set)); }

std::vector<Core> cores_in(const Topology& topology, const AllowedCores& allowed) {
  std::vector<Core> cores;
  std::set<int> left(allowed.cores.begin(), allowed.cores.end());
  const int count = topology ? std::max(0, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE)) : 0;
  for (int i = 0; i < count; ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, object);
    Core core{.package = package != nullptr ? static_cast<int>(package->os_index) : 0,
              .numa_node = first_in(object->nodeset),
              .processors = {}};
    for (const int processor : allowed.cores) {
      if (hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(processor)) != 0 && left.erase(processor) != 0)
        core.processors.push_back(processor);
    }
    if (!core.processors.empty()) cores.push_back(std::move(core));
  }
  // What hwloc does not know of: no core in its tables, or come since.
  for (const int processor : left) cores.push_back({.package = 0, .numa_node = 0, .processors = {processor}});
  return cores;
}

}  // namespace

std::vector<Core> allowed_topology(const AllowedCores& allowed) {
  Topology topology = new_topology();
  if (topology && hwloc_topology_load(topology.get()) != 0) topology.reset();
  return cores_in(topology, allowed);
}

std::vector<Core> described_topology(const char* description, const AllowedCores& allowed) {
  Topology topology = new_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description) != 0 || hwloc_topology_load(topology.get()) != 0)
    topology.reset();
  return cores_in(topology, allowed);
}

}  // namespace shoal::detail
