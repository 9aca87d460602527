#include "shm_calibration.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <filesystem>

#include "calibration_file.h"
#include "measure_calibration.h"
#include "shoal/runtime/log.h"

namespace shoal::detail {
namespace {

struct Found {
  Calibration calibration = kReferenceCalibration;
  CalibrationSource source = CalibrationSource::measured;
};

Found find_calibration(const Measured& measured) {
  const std::string key = calibration_key(measured.ranks, measured.cores);
  const std::filesystem::path folder = calibration_folder();
  const std::filesystem::path file = folder.empty() ? folder : calibration_file(folder, key);
  if (!folder.empty())
    if (const auto kept = load_calibration(file, key)) return {*kept, CalibrationSource::file};
  const Calibration calibration = measure_calibration(measured);
  if (folder.empty() || !store_calibration(file, key, calibration))
    log().debug("what was measured of this machine is not kept: no folder to write to");
  return {calibration, CalibrationSource::measured};
}

}  // namespace

bool ShmCalibration::is_there() const {
  // Pairs with the store in publish: the figures are complete. Sequentially consistent, for wait.h.
  return mapping_.calibration().published.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(Once::set);
}

void ShmCalibration::publish() noexcept {
  CalibrationState& state = mapping_.calibration();
  if (!is_there()) {  // Else this process had a session before.
    const SegmentHeader& header = mapping_.header();
    Found found;
    try {
      found = find_calibration({.ranks = static_cast<int>(mapping_.geometry.ranks),
                                .cores = static_cast<int>(header.cores),
                                .hop_cores = {header.hop_cores[0], header.hop_cores[1]}});
    } catch (const std::exception& error) {  // Out of memory, say. Ranks can do without, not wait for ever.
      log().warn("this machine is not measured: {}", error.what());
    }
    state.calibration = found.calibration;
    state.source = static_cast<std::uint32_t>(found.source);
    // Pairs with the load in is_there; sequentially consistent, so that it precedes the look at `sleeping`.
    state.published.store(static_cast<std::uint32_t>(Once::set), std::memory_order_seq_cst);
    mapping_.wake_all();
  }
  own_copy_ = state.calibration;
}

const Calibration& ShmCalibration::get(CallContext& context) {
  if (mapping_.geometry.ranks == 1) return kReferenceCalibration;
  provide();
  if (!own_copy_) {
    const auto ready = [this] { return is_there(); };
    if (!ready()) waiting_.wait({.from = 0}, context, ready);
    const Calibration& published = mapping_.calibration().calibration;
    own_copy_ = is_plausible(published) ? published : kReferenceCalibration;
  }
  return *own_copy_;
}

std::string ShmCalibration::description() const {
  const Calibration& figures = mapping_.calibration().calibration;
  const bool kept = mapping_.calibration().source == static_cast<std::uint32_t>(CalibrationSource::file);
  return fmt::format("{}: hop {:.0f} ns, copy {:.1f} bytes/ns in cache and {:.1f} out of it, yield {:.0f} ns, {} cores",
                     kept ? "kept from before" : "measured now", figures.hop_ns, figures.cached_bytes_per_ns,
                     figures.uncached_bytes_per_ns, figures.yield_ns, figures.cores);
}

}  // namespace shoal::detail
