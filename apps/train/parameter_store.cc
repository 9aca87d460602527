#include "train/parameter_store.h"

#include <algorithm>

namespace shoal::train {
namespace {

void round(std::span<const float> from, std::span<bf16> into) {
  std::transform(from.begin(), from.end(), into.begin(), [](float value) { return bf16(value); });
}

std::span<const float> widen(std::span<const bf16> from, std::span<float> into) {
  std::transform(from.begin(), from.end(), into.begin(), [](bf16 value) { return static_cast<float>(value); });
  return into.first(from.size());
}

}  // namespace

std::string_view name(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

ParameterStore::ParameterStore(const ShardMap& map, int stage, Precision precision, Transport& transport,
                               MemoryAccounts& memory)
    : map_(&map),
      stage_(stage),
      precision_(precision),
      transport_(&transport),
      floats_(&memory[precision == Precision::f32 ? MemoryUse::parameter : MemoryUse::optimizer]),
      rounded_(&memory[MemoryUse::parameter]),
      gathered_(&memory.shared_scratch()) {
  const std::size_t all = map.layout().parameters();
  const std::size_t working = shards_working() ? map.elements() : all;
  if (precision == Precision::f32) {
    floats_.resize(working);
    return;
  }
  floats_.resize(shards_masters() ? map.elements() : all);
  rounded_.resize(working);
  if (shards_working()) gathered_.resize(map.layout().largest_layer());
}

std::span<float> ParameterStore::masters(std::size_t layer) {
  if (!shards_masters()) return map_->whole(std::span(floats_), layer);
  return map_->own(std::span(floats_), precision_ == Precision::bf16 || shards_working(), layer);
}

void ParameterStore::publish(std::size_t layer) {
  const bool gathers = shards_masters() && !shards_working();
  if (precision_ == Precision::bf16) {
    const auto working = std::span(rounded_);
    round(masters(layer), shards_masters() ? map_->own(working, shards_working(), layer) : map_->whole(working, layer));
    if (gathers) transport_->all_gather(map_->whole(working, layer));
  } else if (gathers) {
    transport_->all_gather(map_->whole(std::span(floats_), layer));
  }
}

std::span<const float> ParameterStore::working(std::size_t layer, std::span<float> room) {
  if (precision_ == Precision::f32) return all_masters(layer, room);
  const auto rounded = std::span(rounded_);
  if (!shards_working()) return widen(map_->whole(rounded, layer), room);
  const auto gathered = std::span(gathered_).first(map_->layout().layers()[layer].size());
  transport_->all_gather(std::span<const bf16>(map_->own(rounded, true, layer)), gathered);
  return widen(gathered, room);
}

std::span<const float> ParameterStore::all_masters(std::size_t layer, std::span<float> room) {
  const bool whole = precision_ == Precision::f32 ? !shards_working() : !shards_masters();
  if (whole) return map_->whole(std::span(floats_), layer);
  const auto gathered = room.first(map_->layout().layers()[layer].size());
  transport_->all_gather(std::span<const float>(masters(layer)), gathered);
  return gathered;
}

}  // namespace shoal::train
