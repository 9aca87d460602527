#include "train/sequences.h"

#include <algorithm>

namespace shoal::train {
namespace {

template <class T>
bool is_blank(std::span<const T> row) {
  return std::all_of(row.begin(), row.end(), [](T value) { return value == T{}; });
}

/// Calls `visit` with the index of each row of the sample that is not blank.
template <class Visit>
void for_each_row(const Split& data, std::size_t columns, std::size_t sample, Visit&& visit) {
  for (std::size_t row = sample * data.features / columns; row < (sample + 1) * data.features / columns; ++row) {
    const bool blank = data.values.empty() ? is_blank(std::span(data.pixels).subspan(row * columns, columns))
                                           : is_blank(std::span(data.values).subspan(row * columns, columns));
    if (!blank) visit(row);
  }
}

}  // namespace

Sequences::Sequences(const Split& data, std::size_t columns) : data_(&data), columns_(columns), tokens_(data.count) {
  for (std::size_t sample = 0; sample < data.count; ++sample) {
    std::uint32_t rows = 0;
    for_each_row(data, columns, sample, [&](std::size_t) { ++rows; });
    tokens_[sample] = rows > 0 ? rows - 1 : 0;
    most_tokens_ = std::max<std::size_t>(most_tokens_, tokens_[sample]);
  }
}

void Sequences::load(std::size_t sample, std::size_t skipped, std::span<float> out) const {
  std::size_t seen = 0;
  for_each_row(*data_, columns_, sample, [&](std::size_t row) {
    if (seen++ < skipped || out.empty()) return;
    data_->load_elements(row * columns_, out.first(columns_));
    out = out.subspan(columns_);
  });
}

}  // namespace shoal::train
