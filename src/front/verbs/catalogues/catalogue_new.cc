// `catalogue new`, `edit`, `rm`: recipes by their text, which stays its author's.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/checksum_list.h"
#include "base/file.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/wording.h"
#include "catalogues/stamp.h"
#include "catalogues/tombstone.h"
#include "catalogues/unique.h"
#include "holdings/holding.h"
#include "recipe/document.h"
#include "recipe/edit.h"
#include "recipe/parse.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "sabath/path.h"
#include "sabath/recipe.h"
#include "session/url_document.h"
#include "session/url_recipe.h"
#include "verbs/catalogues/own_recipe.h"
#include "verbs/catalogues/tombstone_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string as_json(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

[[noreturn]] void refuse_data(const std::string& shown, const Url& place) {
  throw Error(FailureKind::invalid, fmt::format("{} describes no asset: it is a file like others", shown),
              fmt::format("read are recipes, Croissant, schema.org, DataCite, cards (README.md) and lists of checksums "
                          "(SHA256SUMS); {} {} makes a recipe of that file",
                          option_text("url"), printable(place.display(), 1000)));
}

// The recipe of what stands at a URL: a document, a list of checksums, a page that leads to files, a hub's repository.
std::string text_of_source(const SessionSettings& settings, const Url& url, RecipeRecord& record,
                           const std::stop_token& stop) {
  const auto fetchers = make_fetchers(settings.fetchers);
  const bool listed = fetchers->resolver_for(url) != nullptr;
  const std::string shown = printable(url.display(), 1000);
  if (!listed && settings.offline && url.scheme() != "file")
    throw Error(FailureKind::offline, fmt::format("{} is not read offline", shown), "name a file of this machine");
  UrlDocuments documents;
  const auto document_at = [&](const Url& at) {
    UrlDocuments::Found found = documents.at(at, *fetchers, settings.rewrites, stop);
    if (found.error && fetchers->resolver_for(at) == nullptr) throw Error(*found.error);
    if (found.recipe) record.passed_over = found.recipe->passed_over;
    return found;
  };
  const UrlRecipe made = recipe_for(url.text(), {}, Catalogue({}, {}), *fetchers, document_at);
  const auto& fragments = made.recipe.fragments;
  if (!listed && made.note.empty() && (fragments.empty() || fragments.front().urls.front() == url)) {
    refuse_data(shown, url);
  }
  return made.text;
}

// A text that may be a document or a recipe.
std::string text_of_file(const std::string& path, const std::string& shown, const Url& place) {
  const auto there = try_stat(path);
  if (!there) throw Error(FailureKind::not_found, fmt::format("there is no file {}", shown));
  if (S_ISDIR(there->st_mode)) {
    throw Error(FailureKind::usage, fmt::format("{} is a directory", shown),
                "name a document in it that describes the asset, or a list of checksums of its files (SHA256SUMS)");
  }
  const bool small = static_cast<std::uint64_t>(there->st_size) <= recipe_size_max;
  const auto text = small || may_describe(place) ? try_read_text(path, recipe_size_max) : std::nullopt;
  if (!text) refuse_data(shown, place);
  return *text;
}

struct FirstText {
  std::string text;
  bool is_document = false;  // which says this asset's id; a recipe is another asset's
};

// What a new recipe begins with.
FirstText first_text(const SessionSettings& settings, const NewRecipeRequest& request, RecipeRecord& record,
                     const std::stop_token& stop) {
  if (request.from.empty()) {
    const Json recipe{{"schema", 1},
                      {"kind", kind_name(request.kind.value_or(AssetKind::dataset))},
                      {"name", request.name},
                      {"fragments", Json::array()}};
    return {recipe.dump(2) + "\n"};
  }
  if (names_source(request.from) && !request.from.starts_with("urn:"))
    return {text_of_source(settings, Url::parse(request.from), record, stop), true};
  std::string path = request.from;
  if (!try_stat(path)) path = make_catalogue(settings).find(request.from, request.kind).origin;
  const Url place = Url::parse("file://" + percent_encode_path(fs::absolute(path).native()));
  if (names_checksum_list(place)) return {text_of_source(settings, place, record, stop), true};
  const std::string shown = printable(request.from, 1000), text = text_of_file(path, shown, place);
  if (auto document = try_read_document(text, {fs::absolute(path).native(), {}})) {
    record.passed_over = std::move(document->passed_over);
    return {text_of_recipe(document->recipe) + "\n", true};
  }
  if (!trim(text).starts_with('{')) refuse_data(shown, place);
  const Recipe recipe = parse_recipe(text, path, request.kind.value_or(AssetKind::dataset));
  if (recipe.schema == 1) return {text};
  throw Error(FailureKind::invalid, fmt::format("{} is of the original's schema", printable(request.from, 1000)),
              "recipes of schema 1 can be edited");
}

Json fragments_of(const std::vector<std::string>& urls) {
  Json fragments = Json::array();
  for (const std::string& url : urls) {
    const Url parsed = Url::parse(url);
    const std::string path(parsed.path());
    fragments.push_back({{"id", fmt::format("f{}", fragments.size())},
                         {"type", "file"},
                         {"path", percent_decode(path.substr(path.rfind('/') + 1))},
                         {"urls", {url}}});
  }
  return fragments;
}

}  // namespace

RecipeRecord catalogue_new(Session& session, const NewRecipeRequest& request, EventSink&, std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  if (!is_name(request.name)) {
    throw Error(FailureKind::usage, fmt::format("\"{}\" is no name", printable(request.name)),
                "names begin with a letter or digit, go on with these and . _ + -, and have at most 128 characters");
  }
  RecipeRecord record;
  FirstText first = first_text(settings, request, record, stop);
  std::string text = std::move(first.text);
  const auto set = [&](std::vector<std::string> key, const std::string& value) {
    text = edited_recipe(std::move(text), request.name, {std::move(key), value});
  };
  set({"name"}, as_json(request.name));
  AssetKind kind = request.kind.value_or(AssetKind::dataset);
  if (!request.from.empty()) {
    kind = recipe_of_text(text, request.name + ".json", kind).kind;
    if (!first.is_document) set({"id"}, "");
  }
  if (!request.urls.empty()) set({"fragments"}, fragments_of(request.urls).dump());
  for (const std::string& change : request.changes)
    text = edited_recipe(std::move(text), request.name, parse_recipe_edit(change));
  Recipe recipe = recipe_of_text(text, request.name + ".json", kind);
  if (metadata_of(recipe).id.empty()) {
    set({"id"}, as_json(new_asset_id()));
    recipe = recipe_of_text(text, request.name + ".json", kind);
  }
  const fs::path home = request.directory.empty() ? home_for_recipes(settings.recipe_homes) : request.directory;
  record.file = home / kind_folder(recipe.kind) / (recipe.name + ".json");
  if (try_lstat(record.file)) {
    throw Error(FailureKind::usage, fmt::format("{} is there already", printable(record.file.native(), 1000)),
                "take another name, or edit it");
  }
  check_unique(settings, recipe, {});
  record.text = std::move(text);
  if (request.dry_run) return record;
  make_directories(record.file.parent_path());
  write_text_atomically(record.file, record.text);
  return record;
}

RecipeRecord catalogue_edit(Session& session, const EditRecipeRequest& request, EventSink&, std::stop_token) {
  const SessionSettings& settings = session.settings();
  if (request.changes.empty() && request.unset.empty())
    throw Error(FailureKind::usage, "what to change is not said", "say KEY=VALUE, as licence=MIT");
  const OwnRecipe own = own_recipe(settings, request.name);
  RecipeRecord record;
  record.file = own.file;
  record.text = own.text;
  for (const std::string& change : request.changes)
    record.text = edited_recipe(std::move(record.text), record.file.native(), parse_recipe_edit(change));
  for (const std::string& key : request.unset) {
    RecipeEdit edit = parse_recipe_edit(key + "=");
    edit.value.clear();
    record.text = edited_recipe(std::move(record.text), record.file.native(), edit);
  }
  const Recipe after = recipe_of_text(record.text, record.file, own.recipe.kind);
  if (after.kind != own.recipe.kind)
    throw Error(FailureKind::usage, "the kind of an asset stays what it is", "make a new recipe from it");
  check_unique(settings, after, record.file);
  if (!request.dry_run) write_own_recipe(settings, own, record.text);
  return record;
}

RemovedRecipeRecord catalogue_rm(Session& session, const RemoveRecipeRequest& request, EventSink&, std::stop_token) {
  const SessionSettings& settings = session.settings();
  const OwnRecipe own = own_recipe(settings, request.name);
  const Recipe& recipe = own.recipe;
  const fs::path& file = own.file;
  if (own.registered) {
    throw Error(FailureKind::usage, fmt::format("{} is a name of the store", recipe.name),
                fmt::format("`{} {} {}` frees it", verb_text("rm"), option_text("forget"), recipe.name));
  }
  const auto store = try_open_store(settings);
  const Holding holding = holding_of(recipe, store.get());
  const Metadata& data = metadata_of(recipe);
  RemovedRecipeRecord record;
  Tombstone& stone = record.tombstone;
  stone.kind = recipe.kind;
  stone.name = recipe.name;
  stone.version = recipe.version;
  stone.id = data.id;
  stone.doi = data.doi;
  stone.title = recipe.title;
  stone.manifest = holding.root ? holding.root->prefixed() : "";
  stone.licence = recipe.licence;
  stone.citation = recipe.citation;
  stone.removed = time_text();
  stone.why = request.why;
  // Beside the folders of kinds. A recipe of the original's layout, or in a folder by letter, has them above it.
  fs::path directory = file.parent_path();
  for (int levels = 0; levels < 2 && directory.filename() != kind_folder(recipe.kind); ++levels)
    directory = directory.parent_path();
  if (directory.filename() != kind_folder(recipe.kind)) {
    throw Error(FailureKind::usage, fmt::format("{} is in no directory of recipes", printable(file.native(), 1000)),
                "there is nothing that would remember it: remove the file");
  }
  stone.file = put_tombstone(directory.parent_path(), stone);
  if (::unlink(file.c_str()) != 0) throw_errno("remove", file, errno);
  sync_directory(file.parent_path());
  return record;
}

template <>
struct Described<NewRecipeRequest> {
  using Of = NewRecipeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the new asset", .required = true, .argument = "NAME"),
      SABATH_FIELD(changes, .help = "what the recipe says, as licence=MIT or tags.task=regression",
                   .argument = "KEY=VALUE"),
      SABATH_FIELD(from,
                   .help = "begin with a recipe, a document (Croissant, schema.org, DataCite, a card) or a list of "
                           "checksums",
                   .value = "FILE|URL"),
      SABATH_FIELD(urls, .help = "a file of it", .option = "url", .value = "URL"),
      SABATH_FIELD(kind, .help = "what it is (dataset)", .letter = 'k'),
      SABATH_FIELD_AS("in", directory, .help = "the directory of recipes (default: your own)", .value = "DIR"),
      SABATH_FIELD(dry_run, .help = "print the recipe, and write nothing", .letter = 'n'),
  };
};

template <>
struct Described<EditRecipeRequest> {
  using Of = EditRecipeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset, or a recipe file", .required = true, .argument = "NAME"),
      SABATH_FIELD(changes, .help = "a value in JSON, or a text; KEY= is null", .argument = "KEY=VALUE"),
      SABATH_FIELD(unset, .help = "take a key away", .value = "KEY"),
      SABATH_FIELD(dry_run, .help = "print the recipe as it would be, and write nothing", .letter = 'n'),
  };
};

template <>
struct Described<RecipeRecord> {
  using Of = RecipeRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the file of the recipe"),
      SABATH_FIELD_AS("recipe", text, .help = "the text of this file"),
      SABATH_FIELD(passed_over, .help = "what was not understood of a document that it began with"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<RemoveRecipeRequest> {
  using Of = RemoveRecipeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset whose recipe is yours", .required = true, .argument = "NAME"),
      SABATH_FIELD(why, .help = "the reason, for those who look for it later", .value = "TEXT"),
  };
};

template <>
struct Described<RemovedRecipeRecord> {
  using Of = RemovedRecipeRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(tombstone, .help = "what remains of the recipe"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const RecipeRecord& record) { return record_text(record); }
std::string to_json(const RemovedRecipeRecord& record) { return record_text(record); }

extern constexpr LibraryVerb catalogue_new_call = described<catalogue_new>("catalogue new");
extern constexpr LibraryVerb catalogue_edit_call = described<catalogue_edit>("catalogue edit");
extern constexpr LibraryVerb catalogue_rm_call = described<catalogue_rm>("catalogue rm");

}  // namespace sabath
