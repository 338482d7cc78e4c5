#include "sabath/verbs/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "catalogues/tombstone.h"
#include "fields/derivation.h"
#include "harness/consent.h"
#include "holdings/lineage.h"
#include "metadata/documents.h"
#include "sabath/error.h"
#include "sabath/metadata.h"
#include "session/harvest.h"
#include "verbs/assets/list_fields.h"
#include "verbs/assets/metadata_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// Of its run sets, the one that would be asked about first.
std::string runs_by(const SessionSettings& settings, const Environment& environment, const Recipe& recipe) {
  std::string by;
  for (const RunSets* sets : {&recipe.run, &recipe.infer}) {
    for (const auto& [name, steps] : *sets) {
      const TrustVerdict verdict = foresee_consent(settings, environment, recipe, steps).verdict;
      if (!verdict.trusted) return "asks";
      by = verdict.by;
    }
  }
  return by;
}

// nullopt: there is a tombstone of that name or id, which joins `removed`.
std::optional<Recipe> find_or_remember(const Catalogue& catalogue, const SessionSettings& settings,
                                       const InfoRequest& request, const std::string& name,
                                       std::vector<Tombstone>& removed) {
  const auto remembered = [&] {
    auto stones = tombstones_of(tombstone_places(settings.roots, settings.recipe_directories), name);
    std::ranges::move(stones, std::back_inserter(removed));
    return !stones.empty();
  };
  try {
    Recipe found = catalogue.find(name, request.kind);
    if (catalogue.is_held(found) && request.format.empty() && remembered()) return std::nullopt;
    return found;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found || !request.format.empty() || !remembered()) throw;
    return std::nullopt;
  }
}

}  // namespace

InfoRecord info(Session& session, const InfoRequest& request, EventSink&, std::stop_token) {
  InfoRecord record;
  const MetadataFormat* format = request.format.empty() ? nullptr : &find_metadata_format(request.format);
  if (format != nullptr && !format->joins && request.names.size() != 1)
    throw Error(FailureKind::usage, fmt::format("a document of the format \"{}\" describes one asset", format->name),
                "name one asset at a time");
  const Catalogue catalogue = make_catalogue(session.settings());
  const auto store = try_open_store(session.settings());
  for (const std::string& name : request.names) {
    auto found = find_or_remember(catalogue, session.settings(), request, name, record.removed);
    if (!found) continue;
    Recipe& recipe = *found;
    const Holding holding = holding_of(recipe, store.get());
    const std::string root = holding.root ? holding.root->prefixed() : "";
    std::string document = format != nullptr ? format->write({recipe, root}) : "";
    auto lineage = request.lineage ? std::optional(lineage_of(catalogue, recipe, store.get())) : std::nullopt;
    std::string by = runs_by(session.settings(), request.environment, recipe);
    std::optional<Harvested> harvest;
    if (store && holding.root) {
      if (auto facts = harvested_of(Layout(store->directory()), *holding.root))
        harvest = Harvested{std::move(facts->files), std::move(facts->lines)};
    }
    record.assets.push_back({std::move(recipe), root, holding.trusted_by, holding.view, std::move(document),
                             std::move(lineage), std::move(harvest), std::move(by)});
  }
  return record;
}

template <>
struct WordsOf<FragmentType> {
  static constexpr std::string_view words = "file|archive|file_list";
  static std::string_view text(FragmentType type) { return fragment_type_name(type); }
};

template <>
struct Described<Checksums> {
  using Of = Checksums;
  static constexpr Field table[] = {
      SABATH_FIELD(sha256, .help = "as it was published", .null_if_empty = true),
      SABATH_FIELD(sha1, .help = "as it was published", .null_if_empty = true),
      SABATH_FIELD(md5, .help = "as it was published", .null_if_empty = true),
      SABATH_FIELD(sha512, .help = "as it was published", .null_if_empty = true),
      SABATH_FIELD(sha384, .help = "as it was published", .null_if_empty = true),
      SABATH_FIELD(sha224, .help = "as it was published", .null_if_empty = true),
  };
};

namespace {

std::optional<std::string> fragment_place(const Fragment& fragment) {
  return fragment.path ? std::optional(fragment.path->text()) : std::nullopt;
}

std::vector<std::string> fragment_urls(const Fragment& fragment) {
  std::vector<std::string> urls;
  for (const Url& url : fragment.urls) urls.push_back(url.display());
  return urls;
}

template <RunSets Recipe::*sets>
std::vector<std::string> run_set_names(const AssetDescription& asset) {
  std::vector<std::string> names;
  for (const auto& [dataset, steps] : asset.recipe.*sets) names.push_back(dataset);
  return names;
}

std::vector<std::string> script_ids(const AssetDescription& asset) {
  std::vector<std::string> ids;
  for (const SupportingScript& script : asset.recipe.supporting) ids.push_back(script.id);
  return ids;
}

template <auto member>
const auto& about_asset(const AssetDescription& asset) {
  return metadata_of(asset.recipe).*member;
}

template <auto member>
auto facts_about_asset(const AssetDescription& asset) {
  const auto& facts = about_asset<member>(asset);
  return facts.empty() ? std::nullopt : std::optional(facts);
}

// A tombstone as its file has it, and the file.
struct PastAsset {
  int schema = 1;
  bool tombstone = true;
  Tombstone stone;
};

std::vector<PastAsset> past_assets(const InfoRecord& record) {
  std::vector<PastAsset> all;
  for (const Tombstone& stone : record.removed) all.push_back({1, true, stone});
  return all;
}

}  // namespace

template <>
struct Described<Fragment> {
  using Of = Fragment;
  static constexpr Field table[] = {
      SABATH_FIELD(id, .help = "its name in the recipe"),
      SABATH_FIELD(type, .help = "what is at its URLs"),
      SABATH_VALUE("path", fragment_place, .help = "where it is in the view; null: at the top, or as its URL ends"),
      SABATH_VALUE("urls", fragment_urls, .help = "mirrors of the same bytes"),
      SABATH_FIELD_AS("size", size_bytes, .help = "of what is at its URLs", .unit = "bytes"),
      SABATH_FIELD(limit, .help = "of a list: how many files are taken, the first ones", .unit = "files"),
      SABATH_FIELD(checksum, .help = "in hexadecimal digits"),
  };
};

template <>
struct Described<GitSource> {
  using Of = GitSource;
  static constexpr Field table[] = {
      SABATH_FIELD(origin, .help = "the URL of the repository"),
      SABATH_FIELD(branch, .help = "the branch that is meant", .null_if_empty = true),
      SABATH_FIELD(tag, .help = "the tag that is meant", .null_if_empty = true),
      SABATH_FIELD(commit, .help = "the commit that is meant", .null_if_empty = true),
  };
};

template <>
struct Described<RecipeCheck> {
  using Of = RecipeCheck;
  static bool is_own(const void* check) { return !static_cast<const RecipeCheck*>(check)->argv.empty(); }
  static std::string bound_of(const RecipeCheck& check) { return check.relation + check.bound; }
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of one that is built in, or the recipe's own"),
      SABATH_VALUE("bound", bound_of, .help = "such as >=64GB; null: none", .null_if_empty = true),
      SABATH_FIELD(argv, .help = "what is started", .only_if = is_own),
      SABATH_FIELD(expect, .help = "what a line that it prints has; null: its status decides", .null_if_empty = true,
                   .only_if = is_own),
      SABATH_FIELD(parallel, .help = "each rank is asked", .only_if = is_own),
      SABATH_FIELD(seconds, .help = "it is ended after them", .unit = "seconds", .only_if = is_own),
  };
};

template <>
struct Described<Requirements> {
  using Of = Requirements;
  static constexpr Field table[] = {
      SABATH_FIELD(python, .help = "the version of Python", .null_if_empty = true),
      SABATH_FIELD(pip, .help = "packages of pip"),
      SABATH_FIELD(conda, .help = "packages of conda"),
      SABATH_FIELD(system_modules, .help = "modules of the system"),
      SABATH_FIELD(environment, .help = "a packed environment; with its root where the recipe says it",
                   .null_if_empty = true, .absent_if_empty = true),
      SABATH_FIELD(checks, .help = "what is asked of the machine before a launch", .absent_if_empty = true),
  };
};

template <>
struct Described<Harvested> {
  using Of = Harvested;
  static constexpr Field table[] = {
      SABATH_FIELD(files, .help = "files that were looked into"),
      SABATH_FIELD(facts, .help = "what they say of themselves, KEY=VALUE"),
  };
};

template <>
struct Described<PastAsset> {
  using Of = PastAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(schema, .help = "1"),
      SABATH_FIELD(tombstone, .help = "true"),
      SABATH_FIELD_AS("kind", stone.kind, .help = "what the asset was"),
      SABATH_FIELD_AS("name", stone.name, .help = "its name"),
      SABATH_FIELD_AS("version", stone.version, .help = "its version", .null_if_empty = true),
      SABATH_FIELD_AS("id", stone.id, .help = "its identifier", .null_if_empty = true),
      SABATH_FIELD_AS("doi", stone.doi, .help = "its DOI", .null_if_empty = true),
      SABATH_FIELD_AS("title", stone.title, .help = "its title", .null_if_empty = true),
      SABATH_FIELD_AS("manifest", stone.manifest, .help = "its root, as far as it was known", .null_if_empty = true),
      SABATH_FIELD_AS("licence", stone.licence, .help = "its licence", .null_if_empty = true),
      SABATH_FIELD_AS("citation", stone.citation, .help = "how to cite it"),
      SABATH_FIELD_AS("removed", stone.removed, .help = "when the recipe was removed, in UTC"),
      SABATH_FIELD_AS("why", stone.why, .help = "the reason", .null_if_empty = true),
      SABATH_FIELD_AS("file", stone.file, .help = "the file of the tombstone"),
  };
};

template <>
struct Described<AssetDescription> {
  using Of = AssetDescription;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("name", recipe.name, .help = "the asset"),
      SABATH_FIELD_AS("kind", recipe.kind, .help = "its kind"),
      SABATH_FIELD_AS("version", recipe.version, .help = "null: the recipe does not say", .null_if_empty = true),
      SABATH_FIELD_AS("access", recipe.access.kind, .help = "what one needs to get it"),
      SABATH_VALUE(
          "size", [](const Of& of) { return known_size(of.recipe); },
          .help = "of all its fragments, if the recipe says each", .unit = "bytes"),
      SABATH_VALUE(
          "present", [](const Of& of) { return !of.path.empty(); }, .help = "the store has a view of it"),
      SABATH_FIELD_AS("title", recipe.title, .help = "its title", .null_if_empty = true),
      SABATH_FIELD_AS("abstract", recipe.abstract_text, .help = "of its paper", .null_if_empty = true),
      SABATH_FIELD_AS("description", recipe.description, .help = "what it is", .null_if_empty = true),
      SABATH_FIELD_AS("homepage", recipe.homepage, .help = "a page for people", .null_if_empty = true),
      SABATH_FIELD_AS("licence", recipe.licence, .help = "an SPDX expression", .null_if_empty = true),
      SABATH_FIELD_AS("references", recipe.references, .help = "papers and pages"),
      SABATH_FIELD_AS("citation", recipe.citation, .help = "each way to cite it"),
      SABATH_FIELD_AS("access_steps", recipe.access.steps, .help = "what a person must do first"),
      SABATH_FIELD_AS("fragments", recipe.fragments, .help = "its parts, and where each may be had"),
      SABATH_FIELD_AS("git", recipe.git, .help = "the repository of its code"),
      SABATH_FIELD_AS("forks", recipe.forks, .help = "other repositories of the code"),
      SABATH_FIELD_AS("default_dataset", recipe.default_dataset, .help = "what a fetch of the model takes along",
                      .null_if_empty = true),
      SABATH_FIELD_AS("requirements", recipe.requirements, .help = "what its code needs"),
      SABATH_FIELD_AS("env_vars", recipe.env_vars, .help = "variables that its code is given"),
      SABATH_VALUE("run", run_set_names<&Recipe::run>, .help = "datasets with which it is trained"),
      SABATH_VALUE("infer", run_set_names<&Recipe::infer>, .help = "datasets on which it infers"),
      SABATH_FIELD_AS("metadata", recipe.metadata, .help = "free facts"),
      SABATH_VALUE("id", about_asset<&Metadata::id>, .help = "a URI of this asset alone", .null_if_empty = true),
      SABATH_VALUE("doi", about_asset<&Metadata::doi>, .help = "in lower case", .null_if_empty = true),
      SABATH_VALUE("published", about_asset<&Metadata::published>, .help = "a year, a month or a day",
                   .null_if_empty = true),
      SABATH_VALUE("creators", about_asset<&Metadata::creators>, .help = "who made it"),
      SABATH_VALUE("submitter", about_asset<&Metadata::submitter>, .help = "who wrote the recipe"),
      SABATH_VALUE("tags", about_asset<&Metadata::tags>, .help = "keys and values"),
      SABATH_VALUE("keywords", about_asset<&Metadata::keywords>, .help = "words by which it is found"),
      SABATH_VALUE("related", about_asset<&Metadata::related>, .help = "what belongs to it"),
      SABATH_VALUE("format", about_asset<&Metadata::format>, .help = "how its files are written"),
      SABATH_VALUE("model", facts_about_asset<&Metadata::model>, .help = "of a trained model"),
      SABATH_VALUE("experiment", facts_about_asset<&Metadata::experiment>, .help = "of an experiment"),
      SABATH_VALUE("unknown", about_asset<&Metadata::unknown>, .help = "keys of the recipe, and why each is not known"),
      SABATH_VALUE("read_from", about_asset<&Metadata::read_from>,
                   .help = "keys of the recipe, and pages that state each"),
      SABATH_VALUE("supporting", script_ids, .help = "scripts that can be applied to its data"),
      SABATH_FIELD_AS("derived", recipe.derived, .help = "of a derived asset: the last step that made it"),
      SABATH_FIELD(lineage, .help = "if asked for: all steps that made it, the newest first", .absent_if_empty = true),
      SABATH_FIELD_AS("recipe", recipe.origin, .help = "the file of the recipe"),
      SABATH_FIELD(manifest, .help = "its root; null: it is not known", .null_if_empty = true),
      SABATH_FIELD(trusted_by, .help = "why the root is believed", .null_if_empty = true),
      SABATH_FIELD(runs_by, .help = "why its code may run; asks: it is not trusted; null: it has none",
                   .null_if_empty = true),
      SABATH_FIELD(path, .help = "the view; null: there is none", .null_if_empty = true),
      SABATH_FIELD(harvested, .help = "what its files in the store say of themselves"),
      SABATH_FIELD(document, .help = "in the format that was asked for", .null_if_empty = true),
  };
};

template <>
struct Described<InfoRequest> {
  using Of = InfoRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset, NAME@VERSION, or a recipe file", .required = true, .argument = "NAME"),
      SABATH_FIELD(kind, .help = "when a dataset and a model share the name", .letter = 'k'),
      SABATH_FIELD(format, .help = "the metadata as another tool reads them",
                   .words = "jsonld|hpc|schema.org|croissant|datacite|ro-crate|bibtex|cff", .letter = 'f'),
      SABATH_FIELD(lineage, .help = "of a derived asset: every step that made it, back to where it began"),
      SABATH_FIELD(environment, .help = "its HOME and XDG_CONFIG_HOME say where decisions about code are",
                   .hidden = true),
  };
};

template <>
struct Described<InfoRecord> {
  using Of = InfoRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "those that were named"),
      SABATH_FIELD(exit, .help = "the exit code"),
      SABATH_VALUE("removed", past_assets, .help = "what a name or an id meant, where no recipe has it any more",
                   .null_if_empty = true, .absent_if_empty = true),
  };
};

std::string to_json(const InfoRecord& record) { return record_text(record); }

extern constexpr LibraryVerb info_call = described<info>("info");

}  // namespace sabath
