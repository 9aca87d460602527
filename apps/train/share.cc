// One rank reads, all follow its verdict: checks made by each rank for itself could come out differently, and ranks
// that disagree about going on wait for each other.

#include "train/share.h"

#include <array>
#include <string>

#include "train/input_error.h"
#include "train/npy.h"
#include "train/plan.h"

namespace shoal::train {
namespace {

// Features, columns, training samples, test samples, labels?, floats?
using Header = std::array<std::int64_t, kDataHeader>;

Header header_of(const Dataset& data) {
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  return {number(data.features),
          number(data.columns),
          number(data.train.count),
          number(data.test.count),
          data.train.labels.empty() ? 0 : 1,
          data.train.values.empty() ? 0 : 1};
}

Split empty_split(std::int64_t count, std::int64_t features, bool has_labels, bool has_floats) {
  Split split{.count = static_cast<std::size_t>(count), .features = static_cast<std::size_t>(features)};
  const std::size_t elements = split.count * split.features;
  split.pixels.resize(has_floats ? 0 : elements);
  split.values.resize(has_floats ? elements : 0);
  split.labels.resize(has_labels ? split.count : 0);
  return split;
}

void share(Communicator& comm, Split& split, bool has_labels, bool has_floats) {
  if (has_floats)
    broadcast(comm, split.values);
  else
    broadcast(comm, split.pixels);
  if (has_labels) broadcast(comm, split.labels);
}

}  // namespace

Dataset read_on_rank_0(Communicator& comm, const DataSource& source, std::optional<std::size_t> classes) {
  Dataset data;
  Header header{};
  if (comm.rank() == 0) {
    data = read_dataset(source, classes);
    header = header_of(data);
  }
  broadcast(comm, header);
  const auto [features, columns, train_samples, test_samples, has_labels, has_floats] = header;
  if (comm.rank() != 0) {
    data.features = static_cast<std::size_t>(features);
    data.columns = static_cast<std::size_t>(columns);
    data.train = empty_split(train_samples, features, has_labels != 0, has_floats != 0);
    data.test = empty_split(test_samples, features, has_labels != 0, has_floats != 0);
  }
  share(comm, data.train, has_labels != 0, has_floats != 0);
  share(comm, data.test, has_labels != 0, has_floats != 0);
  return data;
}

std::vector<float> read_parameters_on_rank_0(Communicator& comm, const std::filesystem::path& file,
                                             const Layout& layout) {
  std::vector<float> parameters(layout.parameters());
  if (comm.rank() == 0) {
    NpyArray array = read_npy(file);
    if (array.shape != std::vector{layout.parameters()})
      throw InputError(file.string(), "has " + std::to_string(array.values.size()) + " values in " +
                                          std::to_string(array.shape.size()) + " dimensions, where one of " +
                                          std::to_string(layout.parameters()) + " parameters is needed");
    parameters = std::move(array.values);
  }
  broadcast(comm, parameters);
  return parameters;
}

}  // namespace shoal::train
