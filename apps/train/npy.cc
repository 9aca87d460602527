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
#include <optional>
#include <string>
#include <string_view>

#include "train/input_error.h"

namespace shoal::train {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored as they lie in the file");

constexpr std::string_view kMagic{"\x93NUMPY", 6};

struct Header {
  char kind = 'f';  // As NumPy's type string has it: f, u or i, and the bytes of an element.
  std::size_t element = 4;
  bool is_swapped = false;
  bool fortran_order = false;
  std::vector<std::size_t> shape = {};
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

/// '<f4', '>i8', '|u1' and the like: byte order, kind, bytes.
void parse_type(std::string_view text, Header& header, const std::string& name) {
  const std::string_view type = text.substr(0, text.find(','));
  const bool is_quoted = type.size() == 5 && type.front() == '\'' && type.back() == '\'';
  const std::string_view code = is_quoted ? type.substr(2, 2) : std::string_view();
  const bool has_order = is_quoted && (type[1] == '<' || type[1] == '>' || (type[1] == '|' && code == "u1"));
  if (!has_order || (code != "f4" && code != "f8" && code != "u1" && code != "i8"))
    throw InputError(name, "elements are " + std::string(type) + "; f4, f8, u1 and i8 can be read");
  header.kind = code[0];
  header.element = static_cast<std::size_t>(code[1] - '0');
  header.is_swapped = type[1] == '>';
}

Header parse_header(std::string_view text, const std::string& name) {
  Header header;
  parse_type(value_of(text, "descr", name), header, name);
  const auto order = value_of(text, "fortran_order", name);
  header.fortran_order = order.starts_with("True");
  if (!header.fortran_order && !order.starts_with("False"))
    throw InputError(name, "damaged NPY header: its fortran_order is neither True nor False");
  header.shape = parse_shape(value_of(text, "shape", name), name);
  return header;
}

/// Bytes of the elements; empty if they exceed 64 bits.
std::optional<std::uint64_t> element_bytes(const Header& header) {
  std::uint64_t bytes = header.element;
  for (const std::uint64_t extent : header.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return bytes;
}

/// From the order in which the first index runs fastest to that in which the last one does.
template <class T>
std::vector<T> transposed(const std::vector<T>& values, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> strides;
  std::size_t stride = 1;
  for (const std::size_t extent : shape) {
    strides.push_back(stride);
    stride *= extent;
  }
  std::vector<T> result;
  result.reserve(values.size());
  std::vector<std::size_t> index(shape.size());
  for (std::size_t from = 0; result.size() < values.size();) {
    result.push_back(values[from]);
    for (std::size_t axis = shape.size(); axis-- > 0;) {  // Counts the index up, the last place first.
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

template <class T, class Take>
BasicNpyArray<T> read_elements(const Header& header, std::uint64_t bytes, Take&& take) {
  BasicNpyArray<T> array{.shape = header.shape, .values = std::vector<T>(bytes / sizeof(T))};
  take(reinterpret_cast<char*>(array.values.data()), bytes);
  if (header.is_swapped && sizeof(T) > 1) {
    for (T& value : array.values) {
      auto& raw = reinterpret_cast<std::array<char, sizeof(T)>&>(value);
      std::reverse(raw.begin(), raw.end());
    }
  }
  if (header.fortran_order && header.shape.size() > 1) array.values = transposed(array.values, header.shape);
  return array;
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

AnyNpyArray read_any_npy(const std::filesystem::path& file) {
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
  if (header.kind == 'u') return read_elements<std::uint8_t>(header, *bytes, take);
  if (header.kind == 'i') return read_elements<std::int64_t>(header, *bytes, take);
  if (header.element == sizeof(double)) return read_elements<double>(header, *bytes, take);
  return read_elements<float>(header, *bytes, take);
}

NpyArray read_npy(const std::filesystem::path& file) {
  return std::visit(
      [](const auto& array) {
        NpyArray floats{.shape = array.shape, .values = {}};
        floats.values.reserve(array.values.size());
        for (const auto value : array.values) floats.values.push_back(static_cast<float>(value));
        return floats;
      },
      read_any_npy(file));
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
