#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "checkpoint/file_error.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_types.h"

namespace shoal::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kLongestHeader = 100'000'000;  // As the format's own reader has it.

constexpr std::array kTypes{ElementType::f32, ElementType::f64, ElementType::i64, ElementType::u8, ElementType::bf16};

/// Of an object of the header; a name that stands twice is an error, where JSON parsers keep one of them.
Json parse_header(const std::string& text) {
  std::vector<std::set<std::string>> names;
  return Json::parse(text, [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second)
      throw std::invalid_argument("the name '" + parsed.get<std::string>() + "' stands there twice");
    return true;
  });
}

std::uint64_t number(const Json& value) {
  if (!value.is_number_unsigned()) throw std::invalid_argument("a size is no whole number");
  return value.get<std::uint64_t>();
}

struct Entry {
  TensorInfo info;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Entry parse_entry(const std::string& tensor, const Json& value) {
  const auto wrong = [&](const std::string& reason) {
    return std::invalid_argument("tensor '" + tensor + "': " + reason);
  };
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    throw wrong("not dtype, shape and data_offsets");
  const Json& offsets = value["data_offsets"];
  if (!value["dtype"].is_string() || !value["shape"].is_array() || !offsets.is_array() || offsets.size() != 2)
    throw wrong("dtype, shape or data_offsets is not of its kind");
  const auto type = type_named(value["dtype"].get<std::string>());
  if (!type) throw wrong("dtype " + value["dtype"].get<std::string>() + " is not known here");
  Entry entry{.info = {.name = tensor, .type = *type}, .begin = number(offsets[0]), .end = number(offsets[1])};
  std::uint64_t bytes = size_of(*type);
  bool overflows = false;
  for (const Json& extent : value["shape"]) {
    entry.info.shape.push_back(number(extent));
    overflows = __builtin_mul_overflow(bytes, entry.info.shape.back(), &bytes) || overflows;
  }
  if (overflows || entry.end < entry.begin || entry.end - entry.begin != bytes)
    throw wrong("its shape does not take the bytes from " + std::to_string(entry.begin) + " to " +
                std::to_string(entry.end));
  return entry;
}

}  // namespace

std::string_view name(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "F32";
    case ElementType::f64:
      return "F64";
    case ElementType::i64:
      return "I64";
    case ElementType::u8:
      return "U8";
    case ElementType::bf16:
      return "BF16";
  }
  return "";
}

std::optional<ElementType> type_named(std::string_view text) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](ElementType type) { return name(type) == text; });
  return found == kTypes.end() ? std::nullopt : std::optional(*found);
}

std::size_t size_of(ElementType type) {
  if (type == ElementType::u8) return 1;
  if (type == ElementType::bf16) return 2;
  return type == ElementType::f32 ? 4 : 8;
}

std::uint64_t TensorInfo::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

SafetensorsReader::SafetensorsReader(const std::filesystem::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  struct stat status {};
  try {
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) fail("is no ordinary file");
    read_header(static_cast<std::uint64_t>(status.st_size));
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SafetensorsReader::~SafetensorsReader() { ::close(descriptor_); }

void SafetensorsReader::fail(const std::string& reason) const { throw FileError(file_.string(), reason); }

void SafetensorsReader::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t size = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (size == 0) fail("ends before its data do");
    offset += static_cast<std::uint64_t>(size);
    out = out.subspan(static_cast<std::size_t>(size));
  }
}

void SafetensorsReader::read_header(std::uint64_t file_bytes) {
  std::uint64_t length = 0;
  constexpr std::uint64_t kLength = sizeof length;
  if (file_bytes < kLength) fail("is too short for a safetensors file");
  read_at(0, std::as_writable_bytes(std::span(&length, 1)));
  if (length > file_bytes - kLength || length > kLongestHeader)
    fail("has no safetensors header: it would be " + std::to_string(length) + " bytes long");
  std::string text(length, ' ');
  read_at(kLength, std::as_writable_bytes(std::span(text)));

  std::vector<Entry> entries;
  try {
    const Json header = parse_header(text);
    if (!header.is_object()) throw std::invalid_argument("it is no object");
    for (const auto& [key, value] : header.items()) {
      if (key != kMetadata)
        entries.push_back(parse_entry(key, value));
      else
        metadata_ = value.get<Metadata>();
    }
  } catch (const std::exception& error) {
    fail(std::string("has a wrong safetensors header: ") + error.what());
  }
  const auto before = [](const Entry& one, const Entry& other) {
    return std::pair(one.begin, one.end) < std::pair(other.begin, other.end);
  };
  std::sort(entries.begin(), entries.end(), before);
  std::uint64_t position = 0;
  for (Entry& entry : entries) {
    if (entry.begin != position) fail("tensor '" + entry.info.name + "' does not begin where the one before it ends");
    position = entry.end;
    begins_.push_back(kLength + length + entry.begin);
    tensors_.push_back(std::move(entry.info));
  }
  if (position != file_bytes - kLength - length)
    fail("has " + std::to_string(file_bytes - kLength - length) + " bytes of data where its header has " +
         std::to_string(position));
}

const TensorInfo& SafetensorsReader::tensor(const std::string& name, ElementType type) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const TensorInfo& tensor) { return tensor.name == name && tensor.type == type; });
  if (found == tensors_.end()) fail("has no tensor '" + name + "' of type " + std::string(checkpoint::name(type)));
  return *found;
}

void SafetensorsReader::read(const TensorInfo& tensor, std::uint64_t first, std::span<std::byte> out) const {
  const auto index = static_cast<std::size_t>(&tensor - tensors_.data());
  const std::uint64_t offset = first * size_of(tensor.type);
  if (offset + out.size() > tensor.elements() * size_of(tensor.type))
    fail("tensor '" + tensor.name + "' has only " + std::to_string(tensor.elements()) + " elements");
  read_at(begins_[index] + offset, out);
}

}  // namespace shoal::checkpoint
