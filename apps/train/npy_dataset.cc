#include <algorithm>
#include <cmath>
#include <string>

#include "train/dataset.h"
#include "train/input_error.h"
#include "train/npy.h"

namespace shoal::train {
namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (const std::size_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

/// Where an element of an array stands, for messages.
std::string sample_text(std::size_t element, const Dataset& data) {
  return "sample " + std::to_string(element / data.features) + ", feature " + std::to_string(element % data.features);
}

Dataset shape_of(const std::vector<std::size_t>& shape, const std::filesystem::path& file) {
  if (shape.size() != 2 && shape.size() != 3)
    throw InputError(file.string(), "has shape " + shape_text(shape) + "; samples x features, or samples x rows x " +
                                        "columns, is needed");
  Dataset data;
  data.columns = shape.size() == 3 ? shape[2] : 0;
  data.features = shape.size() == 3 ? shape[1] * shape[2] : shape[1];
  data.train.count = shape[0];
  data.train.features = data.features;
  data.test.features = data.features;
  if (data.train.count == 0 || data.features == 0)
    throw InputError(file.string(), "holds nothing: its shape is " + shape_text(shape));
  return data;
}

template <class T>
Dataset dataset_of(BasicNpyArray<T> array, const std::filesystem::path& file) {
  Dataset data = shape_of(array.shape, file);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    data.train.pixels = std::move(array.values);
  } else {
    data.train.values.assign(array.values.begin(), array.values.end());
    const auto wrong = std::find_if(data.train.values.begin(), data.train.values.end(),
                                    [](float value) { return !std::isfinite(value); });
    if (wrong != data.train.values.end())
      throw InputError(file.string(), sample_text(static_cast<std::size_t>(wrong - data.train.values.begin()), data) +
                                          " is no finite f32");
  }
  return data;
}

std::vector<std::uint8_t> labels_of(const std::filesystem::path& file, std::size_t samples, std::size_t classes) {
  constexpr std::size_t kMostClasses = 256;  // Labels are kept as bytes.
  return std::visit(
      [&](const auto& array) -> std::vector<std::uint8_t> {
        using T = typename std::decay_t<decltype(array.values)>::value_type;
        if constexpr (std::is_floating_point_v<T>) {
          throw InputError(file.string(), "holds floating-point numbers where labels are expected");
        } else {
          if (array.shape != std::vector{samples})
            throw InputError(file.string(), "has shape " + shape_text(array.shape) + " where " + shape_text({samples}) +
                                                ", a label of each sample, is needed");
          std::vector<std::uint8_t> labels;
          for (const T label : array.values) {
            const auto number = static_cast<std::int64_t>(label);
            if (number < 0 || static_cast<std::uint64_t>(number) >= std::min(classes, kMostClasses))
              throw InputError(file.string(),
                               "label " + std::to_string(number) + " of sample " + std::to_string(labels.size()) +
                                   " is none of the model's " + std::to_string(classes) + " classes" +
                                   (classes > kMostClasses ? ", of which labels name the first 256" : ""));
            labels.push_back(static_cast<std::uint8_t>(number));
          }
          return labels;
        }
      },
      read_any_npy(file));
}

}  // namespace

Dataset read_npy_dataset(const std::filesystem::path& samples, const std::optional<std::filesystem::path>& labels,
                         std::optional<std::size_t> classes) {
  Dataset data = std::visit([&](auto&& array) { return dataset_of(std::move(array), samples); }, read_any_npy(samples));
  if (labels && classes) data.train.labels = labels_of(*labels, data.train.count, *classes);
  return data;
}

}  // namespace shoal::train
