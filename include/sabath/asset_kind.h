// The kinds of assets, with their names and the folders of their recipes. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// Models and workflows are code that `run` starts. The others are content: data, libraries, programs, object files and
// the like.
enum class AssetKind { dataset, model, workflow, library, executable, object };

struct KindName {
  AssetKind kind;
  std::string_view name, folder;  // "dataset"; "datasets", in which its recipes stand
};
inline constexpr std::array<KindName, 6> kind_names{{
    // in the order of the kinds
    {AssetKind::dataset, "dataset", "datasets"},
    {AssetKind::model, "model", "models"},
    {AssetKind::workflow, "workflow", "workflows"},
    {AssetKind::library, "library", "libraries"},
    {AssetKind::executable, "executable", "executables"},
    {AssetKind::object, "object", "objects"},
}};
[[nodiscard]] constexpr std::string_view kind_name(AssetKind kind) {
  return kind_names.at(static_cast<std::size_t>(kind)).name;
}
[[nodiscard]] constexpr std::string_view kind_folder(AssetKind kind) {
  return kind_names.at(static_cast<std::size_t>(kind)).folder;
}
[[nodiscard]] constexpr std::optional<AssetKind> try_parse_kind(std::string_view name) {
  for (const KindName& each : kind_names)
    if (each.name == name) return each.kind;
  return std::nullopt;
}
[[nodiscard]] constexpr std::optional<AssetKind> try_kind_of_folder(std::string_view folder) {
  for (const KindName& each : kind_names)
    if (each.folder == folder) return each.kind;
  return std::nullopt;
}
[[nodiscard]] std::string kind_folders_text();  // "datasets, models, ..."
[[nodiscard]] constexpr bool is_code(AssetKind kind) { return kind == AssetKind::model || kind == AssetKind::workflow; }

}  // namespace sabath
