#include "train/dataset.h"

#include <algorithm>
#include <array>

#include "program/program.h"

namespace shoal::train {
namespace {

constexpr std::string_view kArrayFile = ".npy";

}  // namespace

void Split::load_elements(std::size_t first, std::span<float> out) const {
  static constexpr auto kScaled = [] {
    std::array<float, 256> table{};
    for (std::size_t value = 0; value < table.size(); ++value) table[value] = static_cast<float>(value) / 255.0F;
    return table;
  }();
  if (!values.empty()) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
    return;
  }
  const auto bytes = std::span(pixels).subspan(first, out.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) out[i] = kScaled[bytes[i]];
}

Dataset read_dataset(const std::string& source, std::optional<std::size_t> classes) {
  const auto comma = source.find(std::string(kArrayFile) + ",");
  const bool has_labels = comma != std::string::npos;
  if (!has_labels && !source.ends_with(kArrayFile)) return read_idx_directory(source, classes);
  const std::string samples = has_labels ? source.substr(0, comma + kArrayFile.size()) : source;
  const auto labels =
      has_labels ? std::optional<std::filesystem::path>(source.substr(comma + kArrayFile.size() + 1)) : std::nullopt;
  if (classes && !labels)
    throw UsageError("--data " + source + ": classify needs labels, as in " + source + ",LABELS.npy");
  return read_npy_dataset(samples, classes ? labels : std::nullopt, classes);
}

}  // namespace shoal::train
