// `catalogue new`, `edit`, `pin`, `rm`, `export`: recipes as their keeper sees them.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/verbs.h"
#include "sabath/catalogue.h"
#include "sabath/catalogues.h"
#include "sabath/path.h"
#include "sabath/pinning.h"
#include "verbs/catalogues/catalogue_records.h"

namespace sabath::cli {
namespace {
namespace cmd_catalogue {

int told(const Context& context, const RecipeRecord& record, bool dry) {
  for (const std::string& line : record.passed_over)
    context.say(fmt::format("not understood: {}", printable(line, 1000)));
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else if (dry) {
    context.out.print(record.text);
  } else {
    context.out.print(record.file.string() + "\n");
  }
  return record.exit;
}

struct NewOptions {
  NewRecipeRequest request;
  std::string kind, directory;
};

Action declare_new(OptionSet& set) {
  const auto options = std::make_shared<NewOptions>();
  NewRecipeRequest& request = options->request;
  set.argument("NAME", request.name, "of the new asset");
  set.arguments("KEY=VALUE", request.changes, false, "what the recipe says, as licence=MIT or tags.task=regression");
  set.option("--from", "FILE|URL", request.from,
             "begin with a recipe, a document (Croissant, schema.org, DataCite, a card) or a list of checksums");
  set.option("--url", "URL", request.urls, "a file of it");
  set.choice("-k,--kind", kind_words(), options->kind, "what it is (dataset)");
  set.option("--in", "DIR", options->directory, "the directory of recipes (default: your own)");
  set.flag("-n,--dry-run", request.dry_run, "print the recipe, and write nothing");
  return [options](Context& context) {
    NewRecipeRequest asked = options->request;
    asked.kind = try_parse_kind(options->kind);
    asked.directory = options->directory;
    Session session(context.configuration.session);
    NoEvents unheard;
    return told(context, new_recipe(session, asked, unheard, context.stop), asked.dry_run);
  };
}

Action declare_edit(OptionSet& set) {
  const auto request = std::make_shared<EditRecipeRequest>();
  set.argument("NAME", request->name, "an asset, or a recipe file");
  set.arguments("KEY=VALUE", request->changes, false, "a value in JSON, or a text; KEY= is null");
  set.option("--unset", "KEY", request->unset, "take a key away");
  set.flag("-n,--dry-run", request->dry_run, "print the recipe as it would be, and write nothing");
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    return told(context, edit_recipe(session, *request, unheard, context.stop), request->dry_run);
  };
}

Action declare_rm(OptionSet& set) {
  const auto request = std::make_shared<RemoveRecipeRequest>();
  set.argument("NAME", request->name, "an asset whose recipe is yours");
  set.option("--why", "TEXT", request->why, "the reason, for those who look for it later");
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const RemovedRecipeRecord record = remove_recipe(session, *request, unheard, context.stop);
    if (context.presentation.json) {
      context.out.record(json_of(record));
    } else {
      context.say(fmt::format("{} is removed; its content stays in the store until a collection or `sabath rm`",
                              record.tombstone.name));
      context.out.print(record.tombstone.file.string() + "\n");
    }
    return record.exit;
  };
}

Action declare_pin(OptionSet& set) {
  const auto request = std::make_shared<PinRecipeRequest>();
  set.argument("NAME", request->name, "an asset whose recipe is yours, and whose content is in the store");
  set.option("--url", "URL", request->urls, "where others find its manifest (`sabath manifest create` writes it)");
  set.flag("-n,--dry-run", request->dry_run, "print the recipe as it would be, and write nothing");
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const PinnedRecipeRecord record = pin_recipe(session, *request, unheard, context.stop);
    for (const std::string& part : record.root_only)
      context.say(fmt::format("{} is no single file: the root alone says what it holds", printable(part)));
    context.say(fmt::format("{} is {}pinned: {}, {} with size and SHA-256", record.name,
                            request->dry_run ? "not yet " : "", record.manifest, counted(record.files, "file")));
    if (context.presentation.json) {
      context.out.record(json_of(record));
    } else {
      context.out.print(request->dry_run ? record.text : record.file.string() + "\n");
    }
    return record.exit;
  };
}

struct ExportOptions {
  std::string directory;
  std::vector<std::string> names;
  bool all = false, pin = false;
};

Action declare_export(OptionSet& set) {
  const auto options = std::make_shared<ExportOptions>();
  set.argument("DIR", options->directory, "absent or empty, or an earlier export");
  set.arguments("NAME", options->names, false, "assets (default: all of your own)");
  set.flag("--all", options->all, "also what came with the program");
  set.flag("--pin", options->pin, "write what the store holds of each into what is exported, as `catalogue pin` does");
  return [options](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const ExportedCatalogueRecord record = export_catalogue(
        session, {options->directory, options->names, options->all, options->pin}, unheard, context.stop);
    for (const std::string& line : record.left_out) context.say(fmt::format("left out: {}", printable(line, 1000)));
    for (const std::string& line : record.doubts) context.warn(printable(line, 1000));
    for (const std::string& line : record.unpinned) context.warn(fmt::format("not pinned: {}", printable(line, 1000)));
    if (context.presentation.json) {
      context.out.record(json_of(record));
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
    "catalogue new",
    "write the recipe of a new asset",
    "sabath catalogue new climate --url https://host/climate.nc licence=CC-BY-4.0\n"
    "sabath catalogue new mine --from ./croissant.json      a document of another standard\n"
    "sabath catalogue new mine --from https://host/SHA256SUMS\n"
    "sabath catalogue new mine --from lab/climate           a recipe to begin with",
    "An asset that is there already is refused: by its id, its name and version, the root of its content, or its "
    "sources. Without an id, the recipe gets a random one. The recipe's file is printed.",
    false,
    cmd_catalogue::declare_new,
};

constexpr Verb catalogue_edit_verb{
    "catalogue edit",
    "change what a recipe says",
    "sabath catalogue edit climate licence=MIT tags.task=regression\n"
    "sabath catalogue edit climate 'creators=[{\"name\": \"Doe, Jane\"}]'\n"
    "sabath catalogue edit climate --unset doi",
    "All else in the file stays as it is, with its order and layout. A change that makes it no recipe is refused.",
    false,
    cmd_catalogue::declare_edit,
};

constexpr Verb catalogue_pin_verb{
    "catalogue pin",
    "write into a recipe what the store holds: root, sizes, SHA-256",
    "sabath catalogue pin climate                           from now on it means these bytes\n"
    "sabath catalogue pin climate --url https://host/climate.manifest\n"
    "sabath catalogue pin climate -n                        what would be written",
    "The root of the content, the size and SHA-256 of each file, the commit of a source tree, and the day, in the "
    "recipe's own file, whose other bytes stay as they are. What the recipe says already is compared, and stays. "
    "`sabath keep` is another matter: no collection takes what it names.",
    false,
    cmd_catalogue::declare_pin,
};

constexpr Verb catalogue_rm_verb{
    "catalogue rm",
    "remove a recipe, and leave a tombstone",
    "sabath catalogue rm climate --why 'superseded by climate2'\n"
    "sabath info climate                                    shows what it was",
    "The tombstone says name, id, root, licence, citation, when and why. The content in the store is not touched: "
    "`sabath rm` frees its room, before the recipe goes.",
    false,
    cmd_catalogue::declare_rm,
};

constexpr Verb catalogue_export_verb{
    "catalogue export",
    "write your recipes as a static catalogue",
    "sabath catalogue export public/catalogue    index.json, recipes, a JSON-LD document each\n"
    "sabath catalogue export DIR climate --all\n"
    "sabath catalogue export DIR --pin           with the roots, sizes and SHA-256 of what the store holds",
    "Any web server or git repository can offer the directory; `sabath catalogue subscribe URL` reads it. The index is "
    "written last, so that a reader finds the earlier catalogue or the new one.",
    false,
    cmd_catalogue::declare_export,
};

}  // namespace sabath::cli
