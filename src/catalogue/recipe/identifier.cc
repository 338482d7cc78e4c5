#include "recipe/identifier.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "base/wording.h"
#include "recipe/catalogue.h"
#include "recipe/linked_values.h"
#include "recipe/metadata.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "sabath/path.h"

namespace sabath {

bool is_identifier(std::string_view text) {
  return !text.starts_with("sha256:") && (is_uri(text) || !doi_out_of(text).empty());
}

std::string plain_identifier(std::string_view text) {
  if (const std::string doi = doi_out_of(text); !doi.empty()) return "doi:" + doi;
  return to_lower(text.substr(0, 4)) == "urn:" ? to_lower(text) : std::string(text);
}

Identity identity_of(const Recipe& recipe, std::string_view plain) {
  const Metadata& data = metadata_of(recipe);
  if (!data.id.empty() && plain_identifier(data.id) == plain) return Identity::id;
  return !data.doi.empty() && plain_identifier(data.doi) == plain ? Identity::doi : Identity::none;
}

std::optional<Recipe> Catalogue::try_identified(const std::string& identifier, std::optional<AssetKind> kind,
                                                bool ours_only) const {
  const std::string plain = plain_identifier(identifier);
  std::vector<Recipe> found;
  std::vector<std::string> names;
  bool has_ours = false;
  for (const File& file : files_) {  // those of others come last
    if (kind && file.kind != *kind) continue;
    const bool is_theirs = !file.catalogue.empty();
    if (is_theirs && (ours_only || has_ours)) break;
    Listed entry = listed(file);
    const Identity identity = entry.recipe ? identity_of(*entry.recipe, plain) : Identity::none;
    if (identity == Identity::none) continue;
    if (identity == Identity::id && !is_theirs) return std::move(entry.recipe);
    const auto shadows = [&](const Recipe& other) {
      return other.kind == entry.recipe->kind && to_lower(other.name) == to_lower(entry.recipe->name);
    };
    has_ours = has_ours || !is_theirs;
    if (!is_theirs && std::ranges::any_of(found, shadows)) continue;
    names.push_back(is_theirs ? fmt::format("{}/{}", file.catalogue, file.stem) : entry.recipe->name);
    found.push_back(std::move(*entry.recipe));
  }
  if (found.empty()) return std::nullopt;
  // A dataset goes before a model of its name.
  if (std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); }))
    return std::move(found.front());
  throw Error(FailureKind::not_found, fmt::format("{} is what several assets have", printable(identifier)),
              fmt::format("say which: {}", fmt::join(names, ", ")));
}

// LAB/NAME of a catalogue that has no such asset; and what is no name at all.
void Catalogue::refuse_unless_path(const std::string& name) const {
  std::vector<std::string> names;
  for (const File& file : files_) {
    if (!file.catalogue.empty() && name.starts_with(file.catalogue + "/"))
      names.push_back(fmt::format("{}/{}", file.catalogue, file.stem));
  }
  if (!names.empty()) throw_not_found(name, names, "");
  if (is_identifier(name)) {
    throw Error(FailureKind::not_found, fmt::format("no recipe here has the identifier {}", printable(name, 1000)),
                fmt::format("`{}` shows all that are known here", verb_text("list")));
  }
}

}  // namespace sabath
