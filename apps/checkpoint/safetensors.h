#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/synced_file.h"

// The safetensors format (https://github.com/huggingface/safetensors):
//
//     8 bytes        little-endian: how long the header is
//     header         JSON: {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets": [begin, end]}, ...},
//                    padded with spaces so that the data begin at a multiple of 8
//     data           the tensors without gaps, row-major, little-endian; offsets count from here

namespace shoal::checkpoint {

enum class ElementType { f32, f64, i64, u8, bf16 };

std::size_t size_of(ElementType type);

struct TensorInfo {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<std::uint64_t> shape = {};

  /// Product of the shape. Of a tensor that was read it does not overflow.
  std::uint64_t elements() const;
};

using Metadata = std::map<std::string, std::string>;

/// Writes the tensors announced at the start, in that order. Throws FileError.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& file, const std::vector<TensorInfo>& tensors,
                    const Metadata& metadata);

  /// The next bytes of the data.
  void write(std::span<const std::byte> bytes);

  /// Asserts that all data have come.
  FileInfo finish();

 private:
  SyncedFile file_;
  std::uint64_t missing_ = 0;
};

/// A file whose header was read and found right in all that can be known without the data: nothing in it is taken on
/// trust. Throws FileError, which names the file and what is wrong.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& file);
  SafetensorsReader(const SafetensorsReader&) = delete;
  SafetensorsReader& operator=(const SafetensorsReader&) = delete;
  ~SafetensorsReader();

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const Metadata& metadata() const { return metadata_; }

  /// Throws FileError if there is none of that name and type.
  const TensorInfo& tensor(const std::string& name, ElementType type) const;

  /// Elements of it from `first` on, as many as `out` holds. They must be there.
  void read(const TensorInfo& tensor, std::uint64_t first, std::span<std::byte> out) const;

 private:
  [[noreturn]] void fail(const std::string& reason) const;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  void read_header(std::uint64_t file_bytes);

  std::filesystem::path file_;
  int descriptor_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::uint64_t> begins_;  // In the file.
  Metadata metadata_;
};

}  // namespace shoal::checkpoint
