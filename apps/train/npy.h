#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <variant>
#include <vector>

namespace shoal::train {

/// An array in C order. A scalar has an empty shape.
template <class T>
struct BasicNpyArray {
  std::vector<std::size_t> shape;
  std::vector<T> values;
};
using NpyArray = BasicNpyArray<float>;

/// What an array file may hold.
using AnyNpyArray =
    std::variant<BasicNpyArray<float>, BasicNpyArray<double>, BasicNpyArray<std::uint8_t>, BasicNpyArray<std::int64_t>>;

/// Reads a NumPy .npy file (versions 1 to 3) of f32, f64, u8 or i64, of either byte order, in C or Fortran order. The
/// file must hold exactly what its header claims; the claim is held against the file's size before memory is taken.
///
/// Throws InputError, which names the file and what is wrong with it.
AnyNpyArray read_any_npy(const std::filesystem::path& file);

/// The same as floats: f64 and i64 are rounded.
NpyArray read_npy(const std::filesystem::path& file);

/// Writes `values` as f32 of that shape (version 1.0). Throws InputError if it cannot.
void write_npy(const std::filesystem::path& file, std::span<const std::size_t> shape, std::span<const float> values);

}  // namespace shoal::train
