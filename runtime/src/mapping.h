#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <span>

#include "channel.h"
#include "layout.h"

namespace shoal {

/// A segment as this process sees it. The sizes are this process's own copies, checked when it attached, so that
/// nothing written into the segment later can lead an access outside it.
struct JobSegment::Mapping {
  Mapping(int fd, bool owns, const detail::Geometry& shape);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  template <class T>
  T& at(std::uint64_t offset) const {
    return *reinterpret_cast<T*>(static_cast<std::byte*>(region.get_address()) + offset);
  }
  detail::SegmentHeader& header() const { return at<detail::SegmentHeader>(0); }
  detail::JobState& job() const { return at<detail::JobState>(detail::kJobStateOffset); }
  detail::CalibrationState& calibration() const { return at<detail::CalibrationState>(detail::kCalibrationOffset); }
  detail::CommunicatorState& communicator(std::uint32_t slot) const {
    return at<detail::CommunicatorState>(detail::kCommunicatorsOffset + slot * sizeof(detail::CommunicatorState));
  }
  detail::RankState& rank(int rank) const {
    return at<detail::RankState>(geometry.rank_states + index(rank) * sizeof(detail::RankState));
  }
  detail::Ledger& ledger(int rank) const {
    return at<detail::Ledger>(geometry.ledgers + index(rank) * sizeof(detail::Ledger));
  }
  /// Whether `reader` can copy out of the own memory of `owner`: Copies.
  std::atomic<std::uint8_t>& copies(int reader, int owner) const {
    return at<std::atomic<std::uint8_t>>(geometry.copies + index(reader) * geometry.ranks + index(owner));
  }
  /// Of a communicator's slot, a world rank, and rounds that are even (0) or odd (1).
  detail::FlagLine& flag_line(std::uint32_t slot, int rank, std::uint64_t parity) const {
    const std::uint64_t line = (std::uint64_t{slot} * geometry.ranks + index(rank)) * 2 + parity;
    return at<detail::FlagLine>(geometry.flag_lines + line * sizeof(detail::FlagLine));
  }
  detail::Channel channel(int from, int to) const {
    const std::uint64_t pair = index(from) * geometry.ranks + index(to);
    const std::uint64_t envelopes = detail::envelopes_beside(geometry.channel_bytes);
    return {.control = at<detail::ChannelControl>(geometry.channels + pair * sizeof(detail::ChannelControl)),
            .envelopes = {&at<detail::Envelope>(geometry.envelopes + pair * envelopes * sizeof(detail::Envelope)),
                          envelopes},
            .ring = {&at<std::byte>(geometry.rings + pair * geometry.channel_bytes), geometry.channel_bytes}};
  }
  /// Of a communicator's slot, a world rank, and rounds that are even (0) or odd (1).
  std::span<std::byte> staging(std::uint32_t slot, int rank, std::uint64_t parity) const {
    const std::uint64_t area = (std::uint64_t{slot} * geometry.ranks + index(rank)) * 2 + parity;
    return {&at<std::byte>(geometry.staging + area * detail::kStagingBytes), detail::kStagingBytes};
  }
  std::span<std::byte> heap(int rank) const {
    return {&at<std::byte>(geometry.heaps + index(rank) * geometry.heap_bytes), geometry.heap_bytes};
  }

  /// Makes sure that this staging, of both parities, can be touched; false: there is no memory for it.
  bool reserve_staging(std::uint32_t slot, int rank) const noexcept;

  /// Wakes every rank, so that it looks at what could end its waiting.
  void wake_all() const noexcept;

  const int descriptor;
  const bool owned;  ///< Whether the descriptor is closed with this mapping, or was inherited.
  const detail::Geometry geometry;
  boost::interprocess::mapped_region region;

 private:
  std::uint64_t index(int rank) const { return static_cast<std::uint64_t>(rank); }
};

namespace detail {

/// "it was ended by SIGKILL", "it exited with status 3", "it left".
std::string fate(FailureKind kind, int code);

}  // namespace detail
}  // namespace shoal
