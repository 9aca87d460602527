// NumPy's array files: "\x93NUMPY", two bytes of version, the length of the header (2 bytes in version 1, else 4,
// little-endian), the header (a Python dictionary as text, padded with spaces), the elements.

#include "train/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "train/input_error.h"

namespace shoal::train {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored as they lie in the file");

constexpr std::string_view kMagic{"\x93NUMPY", 6};

struct Header {
  bool is_f64 = false;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// What stands behind 'key': in the dictionary, up to where its value starts.
std::string_view value_of(std::string_view dictionary, std::string_view key, const std::string& name) {
  const std::string quoted = std::string("'").append(key).append("'");
  const auto at = dictionary.find(quoted);
  if (at == std::string_view::npos) throw InputError(name, "damaged NPY header: it has no " + quoted);
  auto rest = dictionary.substr(at + quoted.size());
  const auto start = rest.find_first_not_of(" :");
  return start == std::string_view::npos ? std::string_view{} : rest.substr(start);
}

std::vector<std::size_t> parse_shape(std::string_view text, const std::string& name) {
  std::vector<std::size_t> shape;
  const auto close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos)
    throw InputError(name, "damaged NPY header: its shape is no tuple");
  text = text.substr(1, close - 1);
  while (true) {
    const auto start = text.find_first_not_of(" ,");
    if (start == std::string_view::npos) return shape;
    text = text.substr(start);
    std::size_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{}) throw InputError(name, "damaged NPY header: its shape is no tuple of sizes");
    shape.push_back(extent);
    text = text.substr(static_cast<std::size_t>(end - text.data()));
  }
}

Header parse_header(std::string_view text, const std::string& name) {
  Header header;
  const auto type = value_of(text, "descr", name);
  if (type.starts_with("'<f8'"))
    header.is_f64 = true;
  else if (!type.starts_with("'<f4'"))
    throw InputError(name,
                     "elements are " + std::string(type.substr(0, type.find(','))) + "; '<f4' and '<f8' can be read");
  header.fortran_order = value_of(text, "fortran_order", name).starts_with("True");
  header.shape = parse_shape(value_of(text, "shape", name), name);
  if (header.fortran_order && header.shape.size() > 1)
    throw InputError(name, "is in Fortran order; C order can be read");
  return header;
}

/// Bytes of the elements; empty if they exceed 64 bits.
std::optional<std::uint64_t> element_bytes(const Header& header) {
  std::uint64_t bytes = header.is_f64 ? sizeof(double) : sizeof(float);
  for (const std::uint64_t extent : header.shape) {
    if (extent != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

std::uint64_t regular_file_size(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) throw InputError(file.string(), "no such file");
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(file.string(), "not a regular file");
  const auto size = std::filesystem::file_size(file, error);
  if (error) throw InputError(file.string(), error.message());
  return size;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& file) {
  const std::string name = file.string();
  const std::uint64_t size = regular_file_size(file);
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(name, std::string("cannot be read: ") + std::strerror(errno));
  std::uint64_t taken = 0;
  const auto take = [&](char* into, std::uint64_t bytes) {
    if (bytes > size - taken || !stream.read(into, static_cast<std::streamsize>(bytes)))
      throw InputError(name, "truncated: " + std::to_string(size) + " bytes are no whole NPY header");
    taken += bytes;
  };

  std::array<char, 8> preamble{};
  take(preamble.data(), preamble.size());
  if (std::string_view(preamble.data(), kMagic.size()) != kMagic) throw InputError(name, "not an NPY file");
  const int version = preamble[6];
  if (version < 1 || version > 3) throw InputError(name, "NPY version " + std::to_string(version) + " is unknown");
  std::array<unsigned char, 4> length_bytes{};
  take(reinterpret_cast<char*>(length_bytes.data()), version == 1 ? 2 : 4);
  const std::uint32_t length = std::uint32_t{length_bytes[0]} | std::uint32_t{length_bytes[1]} << 8 |
                               std::uint32_t{length_bytes[2]} << 16 | std::uint32_t{length_bytes[3]} << 24;
  if (length > size - taken)
    throw InputError(name, "truncated: " + std::to_string(size) + " bytes are no whole NPY header");
  std::string text(length, '\0');
  take(text.data(), length);

  const Header header = parse_header(text, name);
  const auto bytes = element_bytes(header);
  if (!bytes || *bytes != size - taken)
    throw InputError(name, "its header claims " + (bytes ? std::to_string(*bytes) : "more than 2^64") +
                               " bytes of elements, but " + std::to_string(size - taken) + " follow");
  NpyArray array{.shape = header.shape, .values = {}};
  if (header.is_f64) {
    std::vector<double> wide(*bytes / sizeof(double));
    take(reinterpret_cast<char*>(wide.data()), *bytes);
    array.values.resize(wide.size());
    std::transform(wide.begin(), wide.end(), array.values.begin(),
                   [](double value) { return static_cast<float>(value); });
  } else {
    array.values.resize(*bytes / sizeof(float));
    take(reinterpret_cast<char*>(array.values.data()), *bytes);
  }
  return array;
}

void write_npy(const std::filesystem::path& file, std::span<const std::size_t> shape, std::span<const float> values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) header.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  header += shape.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;  // Of the elements, so that the file can be mapped.
  while ((kPrefix + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';

  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << kMagic << '\x01' << '\x00' << static_cast<char>(header.size() % 256)
         << static_cast<char>(header.size() / 256) << header;
  stream.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  stream.close();
  if (!stream) throw InputError(file.string(), std::string("cannot be written: ") + std::strerror(errno));
}

}  // namespace shoal::train
