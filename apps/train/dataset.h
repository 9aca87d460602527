#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::train {

/// Samples of one kind, all of so many features: bytes that stand for 0 to 1, or floats as they are.
struct Split {
  std::size_t count = 0;
  std::size_t features = 0;
  std::vector<std::uint8_t> pixels = {};  ///< Sample i is pixels[i * features ...], or values[i * features ...]:
  std::vector<float> values = {};         ///< one of the two is empty.
  std::vector<std::uint8_t> labels = {};  ///< One of each sample; empty where the task has no use for them.

  /// So many samples from `first` on, as a model takes them; `out` has count * features elements.
  void load(std::size_t first, std::size_t samples, std::span<float> out) const {
    load_elements(first * features, out.first(samples * features));
  }
  /// The same, of elements of all samples one after the other.
  void load_elements(std::size_t first, std::span<float> out) const;
};

struct Dataset {
  std::size_t features = 0;  ///< Of a sample, row by row.
  std::size_t columns = 0;   ///< Of a row; 0 if samples have no rows.
  Split train = {};
  Split test = {};  ///< May be empty.
};

/// What `--data` names.
struct DataSource {
  std::filesystem::path samples;  ///< A directory of IDX files, or FILE.npy.
  std::optional<std::filesystem::path> labels = std::nullopt;
  bool is_array = false;
};

/// Throws UsageError where a name is empty, or where labels are needed and an array comes without.
DataSource data_source(const std::string& text, bool needs_labels);

/// Of `--data`: a directory of IDX files, or FILE.npy with or without ,LABELS.npy. `classes`: labels are 0 .. classes-1;
/// none: labels are not read. Throws InputError.
Dataset read_dataset(const DataSource& source, std::optional<std::size_t> classes);

/// Where Debian's package dataset-fashion-mnist has its files.
inline constexpr const char* kFashionMnist = "/usr/share/datasets/fashion-mnist";

/// Reads the files of the MNIST family from a directory: {train,t10k}-{images-idx3,labels-idx1}-ubyte, each plain or
/// with .gz. `classes`: labels are 0 .. classes-1; none: the files of labels are not read. Throws InputError.
Dataset read_idx_directory(const std::filesystem::path& directory, std::optional<std::size_t> classes);

/// Samples x features, or samples x rows x columns: u8 as pixels are, f32 as they are, f64 and i64 rounded to f32; all
/// finite. Labels: as many of u8 or i64, one dimension. There is no test set. Throws InputError.
Dataset read_npy_dataset(const std::filesystem::path& samples, const std::optional<std::filesystem::path>& labels,
                         std::optional<std::size_t> classes);

}  // namespace shoal::train
