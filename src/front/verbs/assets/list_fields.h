// What `list` and `search` say of an asset. One thread.
#pragma once

#include "fields/asset_kind.h"
#include "holdings/holding.h"
#include "sabath/recipe.h"
#include "sabath/verbs/list.h"

namespace sabath {

[[nodiscard]] AssetSummary summary_of(const Recipe& recipe, bool present);
[[nodiscard]] AssetSummary stored_summary(const Recipe& recipe, Store* store);

template <>
struct WordsOf<AccessKind> {
  static constexpr std::string_view words = "public|login|private";
  static std::string_view text(AccessKind kind) { return access_name(kind); }
  static std::optional<AccessKind> parse(std::string_view text) { return try_parse_access(text); }
};

template <>
struct Described<AssetSummary> {
  using Of = AssetSummary;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(kind, .help = "its kind"),
      SABATH_FIELD(version, .help = "null: the recipe does not say", .null_if_empty = true),
      SABATH_FIELD(access, .help = "what one needs to get it"),
      SABATH_FIELD_AS("size", size_bytes, .help = "of all its fragments, if the recipe says each", .unit = "bytes"),
      SABATH_FIELD(present, .help = "the store has a view of it"),
      SABATH_FIELD(title, .help = "its title", .null_if_empty = true),
      SABATH_FIELD(packed, .help = "the store has it in packs, without a view"),
      SABATH_FIELD(stored_bytes, .help = "the sum of its files, where it is in the store", .unit = "bytes"),
      SABATH_FIELD(newer, .help = "a later version of it, LAB/NAME@VERSION, where one was asked for",
                   .null_if_empty = true, .absent_if_empty = true),
  };
};

template <>
struct Described<UnreadableRecipe> {
  using Of = UnreadableRecipe;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the file of the recipe"),
      SABATH_FIELD(problem, .help = "why it cannot be read"),
  };
};

template <>
struct Described<ListRecord> {
  using Of = ListRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "by kind and name; of a search the best answers first"),
      SABATH_FIELD(problems, .help = "recipes that cannot be read; of a search none"),
      SABATH_FIELD(exit, .help = "the exit code"),
      SABATH_FIELD(found, .help = "of a search: how many match, beyond its limit, too", .absent_if_empty = true),
  };
};

}  // namespace sabath
