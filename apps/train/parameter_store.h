#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "train/memory.h"
#include "train/shard_map.h"
#include "train/transport.h"

namespace shoal::train {

/// Of the parameters that go into products and from rank to rank. Gradients and the optimizer are f32 in any case.
enum class Precision { f32, bf16 };

std::string_view name(Precision precision);

/// The parameters of one rank: the masters, f32, which its optimizer updates, and the working ones, which its products
/// take.
///
///     precision   masters                                working
///       f32       the rank's part of the working ones    f32, whole; its own chunks at stage 3
///       bf16      f32, whole at stage 0; else its own    bf16 roundings, whole; its own chunks at stage 3
///                 chunks; the optimizer's memory
///
/// Layers that it does not keep as f32 are made in the caller's room when they are asked for.
class ParameterStore {
 public:
  /// `map` must outlive it.
  ParameterStore(const ShardMap& map, int stage, Precision precision, Transport& transport, MemoryAccounts& memory);

  /// What this rank's optimizer updates of a layer: all of it at stage 0, else the own chunk.
  std::span<float> masters(std::size_t layer);

  /// All ranks together, after the masters of a layer were written: its working parameters are made of them.
  void publish(std::size_t layer);

  /// All ranks together: W and b of a layer, kept or in `room`.
  std::span<const float> working(std::size_t layer, std::span<float> room);

  /// All ranks together: the masters of a whole layer, kept or in `room`.
  std::span<const float> all_masters(std::size_t layer, std::span<float> room);

  /// Whether working() needs a room.
  bool needs_room() const { return precision_ == Precision::bf16 || shards_working(); }

 private:
  bool shards_masters() const { return stage_ >= 1; }
  bool shards_working() const { return stage_ >= 3; }

  const ShardMap* map_;
  int stage_;
  Precision precision_;
  Transport* transport_;
  Floats floats_;                    // f32: the working parameters. bf16: the masters.
  std::pmr::vector<bf16> rounded_;   // bf16: the working parameters.
  std::pmr::vector<bf16> gathered_;  // bf16 at stage 3: room for a layer.
};

}  // namespace shoal::train
