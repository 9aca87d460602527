#include "train/files.h"

#include <zlib.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace shoal::train::test {

Bytes idx_header(std::uint32_t magic, const std::vector<std::uint32_t>& sizes) {
  Bytes bytes;
  const auto append = [&](std::uint32_t value) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  };
  append(magic);
  for (const std::uint32_t size : sizes) append(size);
  return bytes;
}

Bytes idx_images(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  Bytes bytes = idx_header(0x803, {count, rows, columns});
  for (std::uint32_t i = 0; i < count * rows * columns; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  return bytes;
}

Bytes idx_labels(const Bytes& labels) {
  Bytes bytes = idx_header(0x801, {static_cast<std::uint32_t>(labels.size())});
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  return bytes;
}

std::filesystem::path write_file(const std::filesystem::path& file, const Bytes& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + file.string());
  return file;
}

std::filesystem::path write_gzip(const std::filesystem::path& file, const Bytes& bytes) {
  gzFile stream = gzopen(file.c_str(), "wb");
  const int written = gzwrite(stream, bytes.data(), static_cast<unsigned>(bytes.size()));
  if (gzclose(stream) != Z_OK || written != static_cast<int>(bytes.size()))
    throw std::runtime_error("cannot write " + file.string());
  return file;
}

Bytes read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

namespace {

void write_quarters_split(const std::filesystem::path& directory, const std::string& name, std::uint32_t samples) {
  Bytes images = idx_header(0x803, {samples, 4, 4});
  Bytes labels;
  for (std::uint32_t sample = 0; sample < samples; ++sample) {
    const std::uint32_t label = sample * 7 % 4;
    labels.push_back(static_cast<std::uint8_t>(label));
    for (std::uint32_t row = 0; row < 4; ++row) {
      for (std::uint32_t column = 0; column < 4; ++column) {
        const bool is_bright = row / 2 * 2 + column / 2 == label;
        const std::uint32_t noise = (sample * 31 + row * 17 + column * 5) % 60;  // Distinct samples.
        images.push_back(static_cast<std::uint8_t>(is_bright ? 150 + noise : noise));
      }
    }
  }
  write_file(directory / (name + "-images-idx3-ubyte"), images);
  write_file(directory / (name + "-labels-idx1-ubyte"), idx_labels(labels));
}

}  // namespace

void write_quarters(const std::filesystem::path& directory, std::uint32_t train_samples, std::uint32_t test_samples) {
  write_quarters_split(directory, "train", train_samples);
  write_quarters_split(directory, "t10k", test_samples);
}

}  // namespace shoal::train::test
