// IDX files as the MNIST family uses them:
//
//     0  0  8  dimensions | size of each dimension, 4 bytes big-endian | one byte an element, last dimension fastest
//
// A header is a claim. Nothing is allocated for it: data are read in pieces until the claim is met, and one byte
// more is asked for to see that the file ends there.

#include "train/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>

#include "train/input_error.h"

namespace shoal::train {
namespace {

constexpr std::uint32_t kLabelsMagic = 0x00000801;
constexpr std::uint32_t kImagesMagic = 0x00000803;

/// The bytes of a file, unpacked if it is gzip (zlib passes others through).
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& file) : name_(file.string()) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (status.type() == std::filesystem::file_type::not_found) fail("no such file");
    if (error) fail(error.message());
    if (!std::filesystem::is_regular_file(status)) fail("not a regular file");
    file_bytes_ = std::filesystem::file_size(file, error);
    if (error) fail(error.message());
    errno = 0;
    stream_.reset(gzopen(name_.c_str(), "rb"));
    if (!stream_) fail(errno != 0 ? std::strerror(errno) : "out of memory");
    constexpr unsigned kBuffer = 256U << 10U;
    gzbuffer(stream_.get(), kBuffer);
  }

  /// Fills `into` as far as the file goes; returns how far.
  std::size_t read(std::span<std::uint8_t> into) {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const std::size_t piece = std::min<std::size_t>(into.size() - filled, 1U << 30U);
      const int got = gzread(stream_.get(), into.data() + filled, static_cast<unsigned>(piece));
      if (got < 0) fail_reading();
      if (got == 0) {
        check_end();
        break;
      }
      filled += static_cast<std::size_t>(got);
    }
    total_ += filled;
    return filled;
  }

  /// Whether so many bytes cannot come out of the file, as it is packed: deflate makes at most 1,032 out of one.
  bool cannot_unpack_to(std::uint64_t bytes) const {
    constexpr std::uint64_t kDeflateRatio = 1032;
    return gzdirect(stream_.get()) == 0 && bytes / kDeflateRatio > file_bytes_;
  }

  /// Bytes read so far, as unpacked.
  std::uint64_t total() const { return total_; }

  [[noreturn]] void fail(const std::string& reason) const { throw InputError(name_, reason); }

 private:
  struct Close {
    void operator()(gzFile_s* stream) const { gzclose(stream); }
  };

  /// At the end of what could be unpacked: was that the end of a whole gzip stream?
  void check_end() {
    int code = Z_OK;
    gzerror(stream_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) fail_reading();
  }

  [[noreturn]] void fail_reading() {
    const int system_error = errno;
    int code = Z_OK;
    const char* text = gzerror(stream_.get(), &code);
    if (code == Z_ERRNO) fail(std::string("cannot be read: ") + std::strerror(system_error));
    if (code == Z_BUF_ERROR) fail("truncated gzip file: it ends in the middle of its stream");
    fail(std::string("damaged gzip file: ") + text);
  }

  std::string name_;
  std::unique_ptr<gzFile_s, Close> stream_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t total_ = 0;
};

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
