#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace shoal::train {

/// Images of one size, one byte a pixel: image i is pixels[i * rows * columns ...], row by row.
struct Images {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::uint8_t> pixels;

  std::size_t size() const { return rows * columns; }
};

/// Reads an IDX file of unsigned bytes (magic, big-endian sizes, data; http://yann.lecun.com/exdb/mnist), plain or
/// gzip, whatever its name. The file must hold exactly what its header claims and at least one sample. Memory
/// grows with the data that arrive, never with what the header claims.
///
/// Throws InputError, which names the file and what is wrong with it.
Images read_idx_images(const std::filesystem::path& file);
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& file);

}  // namespace shoal::train
