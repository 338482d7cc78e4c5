// `catalogue new`, `edit`, `pin`, `rm`, `export`: recipes as their keeper sees them.
#include <fmt/format.h>

#include <memory>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/catalogue.h"
#include "sabath/verbs/catalogue_pin.h"

namespace sabath::cli {
namespace {
namespace cmd_catalogue {

int told(const Context& context, const RecipeRecord& record, bool dry) {
  for (const std::string& line : record.passed_over)
    context.say(fmt::format("not understood: {}", printable(line, 1000)));
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else if (dry) {
    context.out.print(record.text);
  } else {
    context.out.print(record.file.string() + "\n");
  }
  return record.exit;
}

template <auto function>
Action declare_recipe(OptionSet& set) {
  const auto request = std::make_shared<typename VerbFunction<decltype(function)>::Request>();
  declare_fields(set, *request);
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    return told(context, function(session, *request, unheard, context.stop), request->dry_run);
  };
}

void print_removed(Context& context, const RemovedRecipeRecord& record) {
  context.say(fmt::format("{} is removed; its content stays in the store until a collection or `sabath rm`",
                          record.tombstone.name));
  context.out.print(record.tombstone.file.string() + "\n");
}

Action declare_pin(OptionSet& set) {
  const auto request = std::make_shared<PinRecipeRequest>();
  declare_fields(set, *request);
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const PinnedRecipeRecord record = catalogue_pin(session, *request, unheard, context.stop);
    for (const std::string& part : record.root_only)
      context.say(fmt::format("{} is no single file: the root alone says what it holds", printable(part)));
    context.say(fmt::format("{} is {}pinned: {}, {} with size and SHA-256", record.name,
                            request->dry_run ? "not yet " : "", record.manifest, counted(record.files, "file")));
    if (context.presentation.json) {
      context.out.record_text(to_json(record));
    } else {
      context.out.print(request->dry_run ? record.text : record.file.string() + "\n");
    }
    return record.exit;
  };
}

Action declare_export(OptionSet& set) {
  const auto request = std::make_shared<ExportCatalogueRequest>();
  declare_fields(set, *request);
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const ExportedCatalogueRecord record = catalogue_export(session, *request, unheard, context.stop);
    for (const std::string& line : record.left_out) context.say(fmt::format("left out: {}", printable(line, 1000)));
    for (const std::string& line : record.doubts) context.warn(printable(line, 1000));
    for (const std::string& line : record.unpinned) context.warn(fmt::format("not pinned: {}", printable(line, 1000)));
    if (context.presentation.json) {
      context.out.record_text(to_json(record));
    } else {
      context.say(fmt::format("{}, {}", counted(record.assets, "asset"), counted(record.tombstones, "tombstone")));
      context.out.print(record.index.string() + "\n");
    }
    return record.exit;
  };
}

}  // namespace cmd_catalogue
}  // namespace

constexpr Verb catalogue_new_verb{
    .name = "catalogue new",
    .summary = "write the recipe of a new asset",
    .examples =
        "sabath catalogue new climate --url https://host/climate.nc licence=CC-BY-4.0\n"
        "sabath catalogue new mine --from ./croissant.json      a document of another standard\n"
        "sabath catalogue new mine --from https://host/SHA256SUMS\n"
        "sabath catalogue new mine --from lab/climate           a recipe to begin with",
    .details =
        "An asset that is there already is refused: by its id, its name and version, the root of its content, or its "
        "sources. Without an id, the recipe gets a random one. The recipe's file is printed.",
    .declare = cmd_catalogue::declare_recipe<catalogue_new>,
};

constexpr Verb catalogue_edit_verb{
    .name = "catalogue edit",
    .summary = "change what a recipe says",
    .examples =
        "sabath catalogue edit climate licence=MIT tags.task=regression\n"
        "sabath catalogue edit climate 'creators=[{\"name\": \"Doe, Jane\"}]'\n"
        "sabath catalogue edit climate --unset doi",
    .details =
        "All else in the file stays as it is, with its order and layout. A change that makes it no recipe is refused.",
    .declare = cmd_catalogue::declare_recipe<catalogue_edit>,
};

constexpr Verb catalogue_pin_verb{
    .name = "catalogue pin",
    .summary = "write into a recipe what the store holds: root, sizes, SHA-256",
    .examples =
        "sabath catalogue pin climate                           from now on it means these bytes\n"
        "sabath catalogue pin climate --url https://host/climate.manifest\n"
        "sabath catalogue pin climate -n                        what would be written",
    .details =
        "The root of the content, the size and SHA-256 of each file, the commit of a source tree, and the day, in the "
        "recipe's own file, whose other bytes stay as they are. What the recipe says already is compared, and stays. "
        "`sabath keep` is another matter: no collection takes what it names.",
    .declare = cmd_catalogue::declare_pin,
};

constexpr Verb catalogue_rm_verb{
    .name = "catalogue rm",
    .summary = "remove a recipe, and leave a tombstone",
    .examples =
        "sabath catalogue rm climate --why 'superseded by climate2'\n"
        "sabath info climate                                    shows what it was",
    .details =
        "The tombstone says name, id, root, licence, citation, when and why. The content in the store is not touched: "
        "`sabath rm` frees its space, before the recipe goes.",
    .declare = declare<catalogue_rm, cmd_catalogue::print_removed>,
};

constexpr Verb catalogue_export_verb{
    .name = "catalogue export",
    .summary = "write your recipes as a static catalogue",
    .examples =
        "sabath catalogue export public/catalogue    index.json, recipes, a JSON-LD document each\n"
        "sabath catalogue export DIR climate --all\n"
        "sabath catalogue export DIR --pin           with the roots, sizes and SHA-256 of what the store holds",
    .details =
        "Any web server or git repository can offer the directory; `sabath catalogue subscribe URL` reads it. The "
        "index is written last, so that a reader finds the earlier catalogue or the new one.",
    .declare = cmd_catalogue::declare_export,
};

}  // namespace sabath::cli
