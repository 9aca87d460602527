#include <bit>
#include <cassert>
#include <nlohmann/json.hpp>

#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_types.h"

namespace shoal::checkpoint {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& file, const std::vector<TensorInfo>& tensors,
                                     const Metadata& metadata)
    : file_(file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  for (const TensorInfo& tensor : tensors) {
    const std::uint64_t begin = missing_;
    missing_ += tensor.elements() * size_of(tensor.type);
    header[tensor.name] = {{"dtype", name(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, missing_}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  file_.write(std::as_bytes(std::span(&length, 1)));
  file_.write(text);
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  assert(bytes.size() <= missing_);
  missing_ -= bytes.size();
  file_.write(bytes);
}

FileInfo SafetensorsWriter::finish() {
  assert(missing_ == 0);
  return file_.finish();
}

}  // namespace shoal::checkpoint
