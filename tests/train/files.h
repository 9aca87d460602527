#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_folder.h"

namespace shoal::train::test {

using shoal::test::TemporaryFolder;

using Bytes = std::vector<std::uint8_t>;

/// Magic and sizes, big-endian.
Bytes idx_header(std::uint32_t magic, const std::vector<std::uint32_t>& sizes);
/// An IDX file of images whose pixels are 0, 1, 2, ... modulo 256.
Bytes idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns);
Bytes idx_labels(const Bytes& labels);

std::filesystem::path write_file(const std::filesystem::path& file, const Bytes& bytes);
std::filesystem::path write_gzip(const std::filesystem::path& file, const Bytes& bytes);
Bytes read_file(const std::filesystem::path& file);

/// A data set of 4 x 4 images in four classes that a small model can learn: a bright quarter says the class.
/// Its files are train-... and t10k-... as read_idx_directory() takes them.
void write_quarters(const std::filesystem::path& directory, std::uint32_t train_samples, std::uint32_t test_samples);

}  // namespace shoal::train::test
