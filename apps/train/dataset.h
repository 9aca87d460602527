#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace shoal::train {

/// Samples of one kind: sample i is pixels[i * features ...] and, where there are labels, labels[i].
struct Split {
  std::size_t count = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;  ///< Empty where the task has no use for them.
};

struct Dataset {
  std::size_t features = 0;
  Split train;
  Split test;
};

/// Where Debian's package dataset-fashion-mnist has its files.
inline constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

/// Reads the files of the MNIST family from a directory: {train,t10k}-{images-idx3,labels-idx1}-ubyte, each plain or
/// with .gz. `classes`: labels are 0 .. classes-1; none: the files of labels are not read. Throws InputError.
Dataset read_idx_directory(const std::filesystem::path& directory, std::optional<std::size_t> classes);

/// Pixels 0..255 as 0..1. `out` has as many elements.
void normalise(std::span<const std::uint8_t> pixels, std::span<float> out);

}  // namespace shoal::train
