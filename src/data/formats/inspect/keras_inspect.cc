// A model of Keras 3. For `inspect` it is a zip with or without code. Its numbers are no part of the search: they are
// weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/inspect/inspect_format.h"
#include "formats/keras.h"

namespace sabath {
namespace {

void keras_facts(const DataFile& file, FactSink& facts) {
  const auto model = try_read_keras(file.path());
  if (!model) return;
  facts.add("format", "keras");
  facts.add("model", model->kind);
  facts.add("model.name", model->name);
  facts.add("keras_version", model->version);
  for (const auto& [name, shape] : model->inputs) {
    facts.add("input", name);
    facts.add((name.empty() ? "input" : name) + ".shape", fmt::format("{}", fmt::join(shape, ",")));
  }
  for (const std::string& layer : model->layers) facts.add("layer", layer);
}

}  // namespace

extern constexpr InspectFormat keras_inspected{.name = "keras", .endings = ".keras", .facts = keras_facts};

}  // namespace sabath
