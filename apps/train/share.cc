// One rank reads, all follow its verdict: checks made by each rank for itself could come out differently, and ranks
// that disagree about going on wait for each other.

#include "train/share.h"

#include <array>

#include "train/plan.h"

namespace shoal::train {
namespace {

using Header = std::array<std::int64_t, kDataHeader>;  // Features, training samples, test samples, labels?

Header header_of(const Dataset& data) {
  const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  return {number(data.features), number(data.train.count), number(data.test.count), data.train.labels.empty() ? 0 : 1};
}

Split empty_split(std::int64_t count, std::int64_t features, bool has_labels) {
  const auto samples = static_cast<std::size_t>(count);
  Split split;
  split.count = samples;
  split.pixels.resize(samples * static_cast<std::size_t>(features));
  split.labels.resize(has_labels ? samples : 0);
  return split;
}

void share(Communicator& comm, Split& split) {
  broadcast(comm, split.pixels);
  if (!split.labels.empty()) broadcast(comm, split.labels);
}

}  // namespace

Dataset read_on_rank_0(Communicator& comm, const std::filesystem::path& directory, std::optional<std::size_t> classes) {
  Dataset data;
  Header header{};
  if (comm.rank() == 0) {
    data = read_idx_directory(directory, classes);
    header = header_of(data);
  }
  broadcast(comm, header);
  const auto [features, train_samples, test_samples, has_labels] = header;
  if (comm.rank() != 0) {
    data.features = static_cast<std::size_t>(features);
    data.train = empty_split(train_samples, features, has_labels != 0);
    data.test = empty_split(test_samples, features, has_labels != 0);
  }
  share(comm, data.train);
  share(comm, data.test);
  return data;
}

}  // namespace shoal::train
