#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::train {

/// The bytes of a file in order, unpacked where it is gzip, of one member or several. Throws InputError, which names
/// the file: if it cannot be read, and, when reading comes to that place, if the gzip is damaged or truncated or
/// followed by anything else.
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& file);
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource();

  /// Fills `into` as far as the file goes; returns how far.
  std::size_t read(std::span<std::uint8_t> into);

  /// Whether so many bytes cannot come out of the file, as it is packed.
  bool cannot_unpack_to(std::uint64_t bytes) const;

  /// Bytes read so far, as unpacked.
  std::uint64_t total() const { return total_; }

  [[noreturn]] void fail(const std::string& reason) const;

 private:
  /// Has bytes of the file at hand, unless it is at its end: whether it has.
  bool refill();
  std::size_t take(std::span<std::uint8_t> into);
  std::size_t unpack(std::span<std::uint8_t> into);
  bool begin_member();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string name_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint8_t> buffer_;
  std::span<const std::uint8_t> at_hand_;  // Of the buffer, what is still to be taken.
  bool packed_ = false;
  bool in_member_ = false;
  std::uint64_t members_ = 0;  // Read to their end.
  z_stream stream_{};
};

}  // namespace shoal::train
