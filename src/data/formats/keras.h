// What a Keras 3 archive (.keras) says of its model: config.json, which describes the layers, and metadata.json. No
// layer is made, no weight is read. Source: keras/src/saving/saving_lib.py of Keras 3. parse_keras() is pure. Throws
// Error{invalid} for what is malformed, {content} where the file ends early.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath {

struct KerasModel {
  std::string kind, name, version;  // "Functional", "cosmoflow", "3.6.0"; empty: not said
  // Of its input layers, by name; an axis of any length is "?".
  std::vector<std::pair<std::string, std::vector<std::string>>> inputs;
  std::vector<std::string> layers;  // classes, each once, in the order of the model, those of models inside, too
};

inline constexpr std::size_t keras_config_bytes_max = 16 << 20, keras_metadata_bytes_max = 64 << 10;
inline constexpr std::string_view keras_config_name = "config.json";

// `config` and `metadata`: the texts of the two members; `metadata` may be empty.
[[nodiscard]] KerasModel parse_keras(std::string_view config, std::string_view metadata, std::string_view file);
// What loading a model of this config runs, by name, each once, sorted: "keras.layers.Lambda", whose bytecode it holds,
// functions and classes of modules that are none of Keras, and those of Keras that do more than compute. Empty: layers,
// losses and the like of Keras only.
[[nodiscard]] std::vector<std::string> keras_code(std::string_view config, std::string_view file);
// False: no model is made of this text, which may be none of Keras, or no JSON.
[[nodiscard]] bool may_be_keras_config(std::string_view config);
// nullopt: an archive without a config.json, or with one that is too long.
[[nodiscard]] std::optional<KerasModel> try_read_keras(const std::filesystem::path& file);

}  // namespace sabath
