#include "formats/keras.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/json_reader.h"
#include "formats/bytes.h"
#include "formats/zip.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr unsigned keras_depth_max = 64;  // of the JSON; a model inside a model takes four levels
constexpr unsigned code_depth_max = 256;  // deeper ones cannot be looked into
constexpr std::size_t layers_max = 100'000, inputs_max = 100, shape_axes_max = 64;

const JsonValue* member_of(const JsonValue* value, std::string_view key) {
  const auto* const object = value != nullptr ? value->get<JsonValue::Object>() : nullptr;
  if (object == nullptr) return nullptr;
  for (const JsonMember& member : *object)
    if (member.key == key) return &member.value;
  return nullptr;
}

std::string text_in(const JsonValue* value, std::string_view key) {
  const JsonValue* const found = member_of(value, key);
  const auto* const text = found != nullptr ? found->get<std::string>() : nullptr;
  return text != nullptr ? *text : "";
}

// Without its first axis, the batch's.
std::vector<std::string> shape_of(const JsonValue* value) {
  std::vector<std::string> shape;
  const auto* const axes = value != nullptr ? value->get<JsonValue::Array>() : nullptr;
  for (std::size_t i = 1; axes != nullptr && i < axes->size() && i <= shape_axes_max; ++i) {
    const auto* const extent = (*axes)[i].get<std::uint64_t>();
    shape.push_back(extent != nullptr ? fmt::to_string(*extent) : "?");
  }
  return shape;
}

class Layers {
 public:
  explicit Layers(KerasModel& model) : model_(model) {}

  // `layer`: {"class_name": ..., "config": {"name": ..., "layers": [...]}}. Its depth is bounded by the reader.
  void add(const JsonValue& layer) {
    if (++seen_ > layers_max) return;
    const JsonValue* const config = member_of(&layer, "config");
    const std::string kind = text_in(&layer, "class_name");
    if (!kind.empty() && known_.insert(kind).second) model_.layers.push_back(kind);
    const JsonValue* shape = member_of(config, "batch_shape");
    if (shape == nullptr) shape = member_of(config, "batch_input_shape");
    if (kind == "InputLayer" && shape != nullptr && model_.inputs.size() < inputs_max)
      model_.inputs.emplace_back(text_in(config, "name"), shape_of(shape));
    inside(config);
  }

  void inside(const JsonValue* config) {
    const JsonValue* const all = member_of(config, "layers");
    const auto* const list = all != nullptr ? all->get<JsonValue::Array>() : nullptr;
    if (list == nullptr) return;
    for (const JsonValue& each : *list) add(each);
  }

 private:
  KerasModel& model_;
  std::set<std::string> known_;
  std::size_t seen_ = 0;
};

bool is_of_keras(std::string_view module) {
  constexpr std::array<std::string_view, 6> packages{"keras",     "tf_keras", "keras_hub",
                                                     "keras_nlp", "keras_cv", "keras_core"};
  return std::ranges::find(packages, module.substr(0, module.find('.'))) != packages.end();
}

// A function of Keras that only computes. Others fetch files (keras.utils.get_file) or make code (func_load).
bool only_computes(std::string_view module, std::string_view name) {
  constexpr std::array<std::string_view, 9> modules{
      "activations", "constraints", "initializers", "losses", "metrics", "ops", "optimizers", "random", "regularizers"};
  if (name == "gelu_approximate" || name == "quick_gelu") return true;  // of keras_hub
  if (name == "get" || name.find("deserialize") != name.npos || name.find("load") != name.npos) return false;
  while (!module.empty()) {
    const std::string_view part = module.substr(0, module.find('.'));
    if (std::ranges::find(modules, part) != modules.end()) return true;
    module.remove_prefix(std::min(part.size() + 1, module.size()));
  }
  return false;
}

// Layers whose config names code, or a file that holds some.
bool is_layer_that_runs(std::string_view kind) {
  constexpr std::array<std::string_view, 4> layers{"TFOpLambda", "SlicingOpLambda", "TFSMLayer", "TorchModuleWrapper"};
  return std::ranges::find(layers, kind) != layers.end();
}

// A class of Keras begins with a capital, or is one of its own for values: "__tensor__".
bool is_class_name(std::string_view name) { return (name[0] >= 'A' && name[0] <= 'Z') || name.starts_with("__"); }

// Functions of Python's own that run what they are given; Keras looks names like "relu" up there, too.
bool is_builtin_that_runs(std::string_view name) {
  for (const std::string_view one : {"eval", "exec", "compile", "open", "__import__", "getattr", "setattr",
                                     "breakpoint", "input", "globals", "vars", "map", "filter"}) {
    if (name == one) return true;
  }
  return false;
}

// A serialized object of Keras: {"module": ..., "class_name": ..., "config": ...}. A function's name is its config.
void add_code_of(const JsonValue& object, std::set<std::string>& names) {
  const std::string kind = text_in(&object, "class_name"), module = text_in(&object, "module");
  if (kind == "Lambda" || kind == "__lambda__") names.insert("keras.layers.Lambda");
  if (is_layer_that_runs(kind)) names.insert("keras.layers." + kind);
  const std::string function = kind == "function" ? text_in(&object, "config") : "";
  const std::string& name = function.empty() ? kind : function;
  if (kind.empty() || module.empty() || (module == "builtins" && !is_builtin_that_runs(name))) return;
  const bool harmless = (function.empty() && is_class_name(kind)) || only_computes(module, name);
  if (is_of_keras(module) && harmless) return;
  names.insert(printable(module + "." + name));
}

// Its depth is bounded by the reader.
void add_code(const JsonValue& value, std::set<std::string>& names) {
  if (const auto* const list = value.get<JsonValue::Array>()) {
    for (const JsonValue& each : *list) add_code(each, names);
  } else if (const auto* const object = value.get<JsonValue::Object>()) {
    add_code_of(value, names);
    for (const JsonMember& member : *object) add_code(member.value, names);
  }
}

std::string whole_member(const ZipArchive& archive, const ZipMember& member) {
  std::string text(member.bytes, '\0');
  text.resize(read_full(*archive.open(member), text));
  return text;
}

}  // namespace

KerasModel parse_keras(std::string_view config, std::string_view metadata, std::string_view file) {
  KerasModel model;
  const JsonValue described = parse_json(config, file, {keras_config_bytes_max, keras_depth_max, 1'000'000});
  model.kind = text_in(&described, "class_name");
  const JsonValue* const inner = member_of(&described, "config");
  model.name = text_in(inner, "name");
  Layers(model).inside(inner);
  if (metadata.empty()) return model;
  const JsonValue made = parse_json(metadata, file, {keras_metadata_bytes_max, 8, 1000});
  model.version = text_in(&made, "keras_version");
  return model;
}

std::vector<std::string> keras_code(std::string_view config, std::string_view file) {
  const JsonValue described = parse_json(config, file, {keras_config_bytes_max, code_depth_max, 10'000'000});
  std::set<std::string> names;
  add_code(described, names);
  return {names.begin(), names.end()};
}

bool may_be_keras_config(std::string_view config) {
  return config.size() > keras_config_bytes_max || config.find("class_name") != config.npos ||
         config.find("\\u") != config.npos;
}

std::optional<KerasModel> try_read_keras(const std::filesystem::path& file) {
  const ZipArchive archive(file);
  const ZipMember* const config = archive.find(keras_config_name);
  if (config == nullptr || config->bytes > keras_config_bytes_max) return std::nullopt;
  const ZipMember* const metadata = archive.find("metadata.json");
  const bool has_metadata = metadata != nullptr && metadata->bytes <= keras_metadata_bytes_max;
  return parse_keras(whole_member(archive, *config), has_metadata ? whole_member(archive, *metadata) : "",
                     file.native());
}

}  // namespace sabath
