// IDX files as the MNIST family uses them:
//
//     0  0  8  dimensions | size of each dimension, 4 bytes big-endian | one byte an element, last dimension fastest
//
// A header is a claim. Nothing is allocated for it: data are read in pieces until the claim is met, and one byte
// more is asked for to see that the file ends there.

#include "train/idx.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string>

#include "train/byte_source.h"

namespace shoal::train {
namespace {

constexpr std::uint32_t kLabelsMagic = 0x00000801;
constexpr std::uint32_t kImagesMagic = 0x00000803;

std::string hex(std::uint32_t value) {
  std::ostringstream text;
  text << "0x" << std::hex;
  text.width(8);
  text.fill('0');
  text << value;
  return text.str();
}

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::string_view kind(std::uint32_t magic) { return magic == kImagesMagic ? "images" : "labels"; }

std::uint32_t read_word(ByteSource& source) {
  std::array<std::uint8_t, 4> bytes{};
  if (source.read(bytes) < bytes.size())
    source.fail("truncated: " + std::to_string(source.total()) + " bytes are no whole IDX header");
  return big_endian(bytes);
}

void check_magic(ByteSource& source, std::uint32_t magic, std::uint32_t wanted) {
  if (magic == wanted) return;
  const std::string expected = std::string(kind(wanted)) + " (IDX magic " + hex(wanted) + ")";
  if (magic == kImagesMagic || magic == kLabelsMagic)
    source.fail("holds " + std::string(kind(magic)) + " where " + expected + " are expected");
  source.fail("not an IDX file of " + expected + ": it begins with " + hex(magic));
}

/// Everything after the header, which must be `claimed` bytes.
std::vector<std::uint8_t> read_elements(ByteSource& source, std::uint64_t claimed, const std::string& claim) {
  constexpr std::uint64_t kPiece = 4U << 20U;
  const std::uint64_t header = source.total();
  if (source.cannot_unpack_to(claimed))
    source.fail("truncated: the header says " + claim + " (" + std::to_string(claimed) +
                " bytes), more than a packed file of its size can hold");
  std::vector<std::uint8_t> elements;
  while (elements.size() < claimed) {
    const std::size_t before = elements.size();
    elements.resize(before + static_cast<std::size_t>(std::min(kPiece, claimed - before)));
    const std::size_t got = source.read(std::span(elements).subspan(before));
    if (before + got < elements.size())
      source.fail("truncated: the header says " + claim + " (" + std::to_string(claimed) + " bytes), but only " +
                  std::to_string(source.total() - header) + " follow");
  }
  std::array<std::uint8_t, 1> beyond{};
  if (source.read(beyond) != 0)
    source.fail("longer than its header says: more than " + claim + " (" + std::to_string(claimed) + " bytes)");
  return elements;
}

/// Product of sizes; empty if it exceeds 64 bits.
std::optional<std::uint64_t> product(std::span<const std::uint32_t> sizes) {
  std::uint64_t total = 1;
  for (const std::uint64_t size : sizes) {
    if (size != 0 && total > std::numeric_limits<std::uint64_t>::max() / size) return std::nullopt;
    total *= size;
  }
  return total;
}

}  // namespace

Images read_idx_images(const std::filesystem::path& file) {
  ByteSource source(file);
  check_magic(source, read_word(source), kImagesMagic);
  std::array<std::uint32_t, 3> sizes{};
  for (auto& size : sizes) size = read_word(source);
  const std::string claim =
      std::to_string(sizes[0]) + " images of " + std::to_string(sizes[1]) + " x " + std::to_string(sizes[2]);
  if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) source.fail("holds nothing: " + claim);
  const auto claimed = product(sizes);
  if (!claimed) source.fail("impossible header: " + claim);
  Images images{.count = sizes[0], .rows = sizes[1], .columns = sizes[2], .pixels = {}};
  images.pixels = read_elements(source, *claimed, claim);
  return images;
}

std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& file) {
  ByteSource source(file);
  check_magic(source, read_word(source), kLabelsMagic);
  const std::uint32_t count = read_word(source);
  if (count == 0) source.fail("holds nothing: 0 labels");
  return read_elements(source, count, std::to_string(count) + " labels");
}

}  // namespace shoal::train
