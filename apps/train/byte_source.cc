// zlib's own file functions take whatever follows a gzip stream for nothing; here every byte of the file must belong to
// one, so members are unpacked one by one until the file ends.

#include "train/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "train/input_error.h"

namespace shoal::train {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10U;
constexpr std::uint8_t kGzipMagic[] = {0x1f, 0x8b};

}  // namespace

ByteSource::ByteSource(const std::filesystem::path& file) : name_(file.string()) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) fail("no such file");
  if (error) fail(error.message());
  if (!std::filesystem::is_regular_file(status)) fail("not a regular file");
  file_bytes_ = std::filesystem::file_size(file, error);
  if (error) fail(error.message());
  file_.reset(std::fopen(name_.c_str(), "rbe"));
  if (!file_) fail(std::strerror(errno));
  buffer_.resize(kBufferBytes);
  packed_ =
      refill() && at_hand_.size() >= 2 && std::equal(std::begin(kGzipMagic), std::end(kGzipMagic), buffer_.begin());
  constexpr int kGzipOnly = 16;
  if (packed_ && inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
}

ByteSource::~ByteSource() {
  if (packed_) inflateEnd(&stream_);
}

std::size_t ByteSource::read(std::span<std::uint8_t> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const bool more = packed_ ? in_member_ || begin_member() : refill();
    if (!more) break;
    filled += packed_ ? unpack(into.subspan(filled)) : take(into.subspan(filled));
  }
  total_ += filled;
  return filled;
}

bool ByteSource::refill() {
  if (!at_hand_.empty()) return true;
  errno = 0;
  const std::size_t got = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (got == 0 && std::ferror(file_.get()) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  at_hand_ = std::span(buffer_).first(got);
  return got != 0;
}

std::size_t ByteSource::take(std::span<std::uint8_t> into) {
  const std::size_t bytes = std::min(into.size(), at_hand_.size());
  std::copy_n(at_hand_.begin(), bytes, into.begin());
  at_hand_ = at_hand_.subspan(bytes);
  return bytes;
}

bool ByteSource::begin_member() {
  if (!refill()) return false;
  if (members_ > 0 && at_hand_.front() != kGzipMagic[0]) fail("damaged gzip file: other bytes follow its stream");
  inflateReset(&stream_);
  in_member_ = true;
  return true;
}

std::size_t ByteSource::unpack(std::span<std::uint8_t> into) {
  if (!refill()) fail("truncated gzip file: it ends in the middle of its stream");
  const std::size_t room = std::min<std::size_t>(into.size(), 1U << 30U);
  stream_.next_in = const_cast<Bytef*>(at_hand_.data());  // Which zlib only reads.
  stream_.avail_in = static_cast<unsigned>(at_hand_.size());
  stream_.next_out = into.data();
  stream_.avail_out = static_cast<unsigned>(room);
  const int code = inflate(&stream_, Z_NO_FLUSH);
  at_hand_ = at_hand_.last(stream_.avail_in);
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  if (code != Z_OK && code != Z_STREAM_END)
    fail(std::string("damaged gzip file: ") + (stream_.msg != nullptr ? stream_.msg : zError(code)));
  if (code == Z_STREAM_END) {
    in_member_ = false;
    ++members_;
  }
  return room - stream_.avail_out;
}

bool ByteSource::cannot_unpack_to(std::uint64_t bytes) const {
  constexpr std::uint64_t kDeflateRatio = 1032;  // Deflate makes at most so many out of one.
  return packed_ && bytes / kDeflateRatio > file_bytes_;
}

void ByteSource::fail(const std::string& reason) const { throw InputError(name_, reason); }

}  // namespace shoal::train
