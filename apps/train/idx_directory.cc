// The data set as its publisher lays it out in files, checked as a whole: every image has its label, and training
// and test images are of one size.

#include <algorithm>
#include <string>
#include <system_error>

#include "train/dataset.h"
#include "train/idx.h"
#include "train/input_error.h"

namespace shoal::train {
namespace {

std::filesystem::path find(const std::filesystem::path& directory, const std::string& name) {
  std::error_code error;
  for (const char* suffix : {"", ".gz"}) {
    auto file = directory / (name + suffix);
    if (std::filesystem::exists(file, error)) return file;
  }
  throw InputError((directory / name).string(), "no such file, nor " + name + ".gz");
}

Split read_split(const std::filesystem::path& directory, const std::string& name, std::optional<std::size_t> classes,
                 const std::filesystem::path& images_file, Images images) {
  Split split{.count = images.count, .features = images.size(), .pixels = std::move(images.pixels)};
  if (!classes) return split;
  const auto labels_file = find(directory, name + "-labels-idx1-ubyte");
  split.labels = read_idx_labels(labels_file);
  if (split.labels.size() != split.count)
    throw InputError(labels_file.string(), "has " + std::to_string(split.labels.size()) + " labels for the " +
                                               std::to_string(split.count) + " images of " + images_file.string());
  const auto outside =
      std::find_if(split.labels.begin(), split.labels.end(), [&](std::uint8_t label) { return label >= *classes; });
  if (outside != split.labels.end())
    throw InputError(labels_file.string(), "label " + std::to_string(*outside) + " of sample " +
                                               std::to_string(outside - split.labels.begin()) +
                                               " is none of the model's " + std::to_string(*classes) + " classes");
  return split;
}

}  // namespace

Dataset read_idx_directory(const std::filesystem::path& directory, std::optional<std::size_t> classes) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    throw InputError(directory.string(),
                     "no such directory (the data set comes with Debian's package dataset-fashion-mnist)");
  const auto train_file = find(directory, "train-images-idx3-ubyte");
  const auto test_file = find(directory, "t10k-images-idx3-ubyte");
  Images train = read_idx_images(train_file);
  Images test = read_idx_images(test_file);
  if (train.rows != test.rows || train.columns != test.columns)
    throw InputError(test_file.string(), "has images of " + std::to_string(test.rows) + " x " +
                                             std::to_string(test.columns) + ", but those of " + train_file.string() +
                                             " are " + std::to_string(train.rows) + " x " +
                                             std::to_string(train.columns));
  Dataset data;
  data.features = train.size();
  data.columns = train.columns;
  data.train = read_split(directory, "train", classes, train_file, std::move(train));
  data.test = read_split(directory, "t10k", classes, test_file, std::move(test));
  return data;
}

}  // namespace shoal::train
