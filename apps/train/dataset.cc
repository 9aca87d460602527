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

DataSource data_source(const std::string& text, bool needs_labels) {
  const auto comma = text.find(std::string(kArrayFile) + ",");
  const bool has_labels = comma != std::string::npos;
  DataSource source{.samples = text};
  source.is_array = has_labels || text.ends_with(kArrayFile);
  if (has_labels) {
    source.samples = text.substr(0, comma + kArrayFile.size());
    source.labels = text.substr(comma + kArrayFile.size() + 1);
  }
  if (source.samples.empty() || (source.labels && source.labels->empty()))
    throw UsageError("--data '" + text + "': an empty file name");
  if (source.is_array && !source.labels && needs_labels)
    throw UsageError("--data " + text + ": classify needs labels, as in " + text + ",LABELS.npy");
  return source;
}

Dataset read_dataset(const DataSource& source, std::optional<std::size_t> classes) {
  if (!source.is_array) return read_idx_directory(source.samples, classes);
  return read_npy_dataset(source.samples, classes ? source.labels : std::nullopt, classes);
}

}  // namespace shoal::train
