#include "train/export.h"

#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "checkpoint/file_error.h"
#include "checkpoint/safetensors.h"
#include "train/agreement.h"
#include "train/output_file.h"

namespace shoal::train {
namespace {

using checkpoint::ElementType;
using checkpoint::SafetensorsWriter;
using checkpoint::TensorInfo;

std::unique_ptr<SafetensorsWriter> begin(const std::filesystem::path& file, const Layout& layout) {
  std::vector<TensorInfo> tensors;
  for (std::size_t i = 0; i < layout.layers().size(); ++i) {
    const Layer& layer = layout.layers()[i];
    const std::string name = "layers." + std::to_string(i);
    tensors.push_back({.name = name + ".weight", .type = ElementType::f32, .shape = {layer.inputs, layer.outputs}});
    tensors.push_back({.name = name + ".bias", .type = ElementType::f32, .shape = {layer.outputs}});
  }
  return std::make_unique<SafetensorsWriter>(file, tensors, checkpoint::Metadata{{"format", "shoal"}});
}

void move_to(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) throw checkpoint::FileError(to.string(), "cannot be written: " + error.message());
}

}  // namespace

void export_model(Communicator& comm, const std::filesystem::path& file, ShardedModel& model) {
  std::filesystem::path target;
  std::filesystem::path aside;
  // A failure of the writer waits until all have made their gathers.
  std::exception_ptr failure;
  std::unique_ptr<SafetensorsWriter> writer;
  const auto guarded = [&](auto&& action) {
    if (comm.rank() != 0 || failure) return;
    try {
      action();
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  };
  guarded([&] {
    target = replaceable(file);
    aside = target;
    aside += ".writing";
    writer = begin(aside, model.layout());
  });
  for (std::size_t layer = 0; layer < model.layout().layers().size(); ++layer) {
    const auto masters = model.masters(layer);
    guarded([&] { writer->write(std::as_bytes(masters)); });
  }
  guarded([&] {
    writer->finish();
    move_to(aside, target);
  });
  together(comm, [&] {
    if (!failure) return;
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    std::rethrow_exception(failure);
  });
}

}  // namespace shoal::train
