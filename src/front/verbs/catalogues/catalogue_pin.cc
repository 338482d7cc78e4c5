// `catalogue pin`: what the store holds of an asset, in its recipe's own file.
#include "sabath/verbs/catalogue_pin.h"

#include <nlohmann/json.hpp>

#include "catalogues/pin.h"
#include "verbs/catalogues/own_recipe.h"
#include "verbs/verb.h"

namespace sabath {

PinnedRecipeRecord catalogue_pin(Session& session, const PinRecipeRequest& request, EventSink&, std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  const OwnRecipe own = own_recipe(settings, request.name);
  PinnedText pinned = pinned_text(settings, own.recipe, own.text, request.urls, stop);
  static_cast<void>(recipe_of_text(pinned.text, own.file, own.recipe.kind));
  if (!request.dry_run) write_own_recipe(settings, own, pinned.text);
  return {own.recipe.name,        own.file,     std::move(pinned.text),
          pinned.root.prefixed(), pinned.files, std::move(pinned.root_only)};
}

template <>
struct Described<PinRecipeRequest> {
  using Of = PinRecipeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset whose recipe is yours, and whose content is in the store", .required = true,
                   .argument = "NAME"),
      SABATH_FIELD(urls, .help = "where others find its manifest (`sabath manifest create` writes it)", .option = "url",
                   .value = "URL"),
      SABATH_FIELD(dry_run, .help = "print the recipe as it would be, and write nothing", .letter = 'n'),
  };
};

template <>
struct Described<PinnedRecipeRecord> {
  using Of = PinnedRecipeRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(file, .help = "the file of its recipe"),
      SABATH_FIELD_AS("recipe", text, .help = "the text of this file"),
      SABATH_FIELD(manifest, .help = "the root that the recipe pins"),
      SABATH_FIELD(files, .help = "files whose size and SHA-256 the recipe has", .unit = "files"),
      SABATH_FIELD_AS("by_root_alone", root_only, .help = "parts that are no single file: the root alone pins them"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const PinnedRecipeRecord& record) { return record_text(record); }

extern constexpr LibraryVerb catalogue_pin_call = described<catalogue_pin>("catalogue pin");

}  // namespace sabath
