#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace shoal::train {

/// An array of f32 in C order. A scalar has an empty shape.
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

/// Reads a NumPy .npy file (versions 1 to 3) of little-endian f32 or f64, C order; f64 is rounded to f32. The file
/// must hold exactly what its header claims; the claim is held against the file's size before memory is taken.
///
/// Throws InputError, which names the file and what is wrong with it.
NpyArray read_npy(const std::filesystem::path& file);

/// Writes `values` as f32 of that shape (version 1.0). Throws InputError if it cannot.
void write_npy(const std::filesystem::path& file, std::span<const std::size_t> shape, std::span<const float> values);

}  // namespace shoal::train
