#include "sabath/verbs/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "base/wording.h"
#include "fields/failure.h"
#include "fields/request.h"
#include "holdings/registration.h"
#include "holdings/stale_modules.h"
#include "hub/adopted_cache.h"
#include "hub/revision.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/harvest.h"
#include "store/adopt_tree.h"
#include "verbs/assets/assets.h"
#include "verbs/care/adopt_call.h"
#include "verbs/verb.h"

namespace sabath {

AdoptionRecord adopt(Session& session, const AdoptionRequest& request, EventSink& events, std::stop_token stop) {
  check_threads(request.threads);
  const SessionSettings& settings = session.settings();
  const std::string& directory = request.directory.native();
  if (!request.name.empty()) check_name(request.name);
  if (is_hub_cache(request.directory)) {
    events.on(
        event::Warning{fmt::format("{} looks like a cache of Hugging Face's hub; the layout \"hf\" makes each "
                                   "repository in it an asset, and checks its hashes",
                                   printable(directory))});
  }
  const auto store = open_stores(settings);
  events.on(event::AssetStarted{directory, std::nullopt, 0});
  events.on(event::PhaseChanged{"hash"});
  const AdoptedTree tree = adopt_tree(*store, request.directory, request.threads, [&](std::uint64_t bytes) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "hashing was stopped");
    events.on(event::BytesReceived{0, bytes});
  });
  events.on(event::AssetFinished{directory});
  if (const auto manifest = store->manifest(tree.root)) warn_of_stale_modules(*store, *manifest, events);
  AdoptionRecord record;
  record.manifest = tree.root.prefixed();
  record.directory = std::filesystem::canonical(request.directory);
  record.files = tree.totals.files;
  record.bytes = tree.totals.bytes;
  if (request.name.empty()) return record;
  const std::string steps =
      fmt::format("sabath adopt {} --name {}", shell_word(record.directory.native()), request.name);
  Registration known = register_name(settings, *store, request.name, tree.root, steps);
  if (known.leads_here) {
    record.known_by = std::move(known.file);
    record.path = show_asset(settings, *store, request.name, tree.root, stop);
    harvest(*store, tree.root, record.directory, request.name, AssetKind::dataset, settings.program, events, stop);
  }
  // A recipe of a directory that pins nothing has the name: its user may want this text instead.
  record.recipe = !known.leads_here ? recipe_text(request.name, tree.root, steps) : std::move(known.recipe);
  return record;
}

namespace {

// Of the revision that "main" is, or that stands alone for its repository: its name; of others with their commit.
std::string hub_asset_name(const HubRevision& hub, bool alone) {
  std::string name = hub.kind == "models" ? hub.repository : hub_folder(hub);
  if (const std::size_t slash = name.find('/'); slash != name.npos) name.replace(slash, 1, "--");
  return alone || hub.revision == "main" ? name : fmt::format("{}-{}", name, hub.commit.substr(0, 12));
}

// A name that has come to mean another commit stays as it is: this one's gets the commit.
std::string register_hub(const SessionSettings& settings, Store& store, const HubRevision& hub, bool alone,
                         const Sha256& root, const std::filesystem::path& directory) {
  const std::string steps = fmt::format("sabath adopt --layout hf {}", shell_word(directory.native()));
  const std::string name = hub_asset_name(hub, alone);
  HubRevision exact = hub;
  exact.revision = hub.commit;
  const std::string exact_name = hub_asset_name(exact, false);
  try {
    if (register_name(settings, store, name, root, steps).leads_here) return name;
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::content || name == exact_name) throw;
  }
  register_name(settings, store, exact_name, root, steps);
  return exact_name;
}

}  // namespace

HubAdoptionRecord adopt_hub(Session& session, const HubAdoptionRequest& request, EventSink& events,
                            std::stop_token stop) {
  check_threads(request.threads);
  const auto revisions = cached_revisions(request.directory);
  HubAdoptionRecord record;
  record.directory = std::filesystem::canonical(request.directory);
  const auto store = open_stores(session.settings());
  const Lease lease = store->lease({}, "adopt " + record.directory.filename().native(), {true});
  events.on(event::AssetStarted{record.directory.native(), std::nullopt, 0});
  events.on(event::PhaseChanged{"hash"});
  CacheAdoption adoption(*store, request.threads, [&](std::uint64_t bytes) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "hashing was stopped");
    events.on(event::BytesReceived{0, bytes});
  });
  for (const CachedRevision& revision : revisions) {
    const auto same = [&](const CachedRevision& other) { return spelled(other.hub) == spelled(revision.hub); };
    AdoptedRepository asset{.name = {},
                            .repository = spelled(revision.hub),
                            .commit = revision.hub.commit,
                            .revision = revision.hub.revision,
                            .manifest = {},
                            .failure = {}};
    try {
      const auto adopted = adoption.adopt(revision);
      asset.manifest = adopted.root.prefixed();
      asset.files = adopted.totals.files;
      asset.bytes = adopted.totals.bytes;
      asset.unchecked = adopted.unchecked;
      const bool alone = std::ranges::count_if(revisions, same) == 1;
      asset.name = register_hub(session.settings(), *store, revision.hub, alone, adopted.root, record.directory);
      show_asset(session.settings(), *store, asset.name, adopted.root, stop);
    } catch (const Error& error) {
      if (error.failure().kind == FailureKind::interrupted) throw;
      asset.failure = error.failure();
      if (record.exit == 0) record.exit = exit_code(error.failure().kind);
    }
    record.assets.push_back(std::move(asset));
  }
  events.on(event::AssetFinished{record.directory.native()});
  return record;
}

HubAdoptionRequest hub_adoption_of(const AdoptionCall& call) {
  if (call.name.empty()) return {call.directory, call.threads};
  throw Error(FailureKind::usage,
              fmt::format("{} is not for the layout \"hf\": each repository has its own", option_text("name")));
}

template <>
struct Described<AdoptionCall> {
  using Of = AdoptionCall;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "a directory whose files stay where they are", .required = true,
                   .argument = "DIR"),
      SABATH_FIELD(name, .help = "all who use the store know it by this name; its recipe is printed", .value = "NAME"),
      SABATH_FIELD(
          layout,
          .help = "DIR is one asset (the default), or a cache of Hugging Face's hub: each revision of it is one",
          .words = "files|hf"),
      SABATH_FIELD(threads, .help = "threads that read and hash (default: one a core)", .maximum = 1024, .letter = 'j',
                   .value = "N"),
  };
};

template <>
struct Described<AdoptionRecord> {
  using Of = AdoptionRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "the root of the asset"),
      SABATH_FIELD(directory, .help = "where its files are, without symlinks"),
      SABATH_FIELD(files, .help = "in it", .unit = "files"),
      SABATH_FIELD(bytes, .help = "in it", .unit = "bytes"),
      SABATH_VALUE(
          "recipe", [](const Of& of) { return of.recipe.empty() ? Json() : Json::parse(of.recipe); },
          .help = "a recipe of it; null: it got no name, or a recipe of a directory has this very root"),
      SABATH_FIELD(known_by, .help = "the recipe that gives the name this root; null: another recipe has the name",
                   .null_if_empty = true),
      SABATH_FIELD(path, .help = "its view; null: there is none", .null_if_empty = true),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<AdoptedRepository> {
  using Of = AdoptedRepository;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the name of the asset", .null_if_empty = true),
      SABATH_FIELD(repository, .help = "the repository of the hub, such as datasets/OWNER/NAME"),
      SABATH_FIELD(commit, .help = "the commit of this revision"),
      SABATH_FIELD(revision, .help = "the name that the cache has for it"),
      SABATH_FIELD(manifest, .help = "the root of the asset; null: it is not in the store", .null_if_empty = true),
      SABATH_FIELD(files, .help = "in it", .unit = "files"),
      SABATH_FIELD(bytes, .help = "in it", .unit = "bytes"),
      SABATH_FIELD(unchecked, .help = "files whose names in the cache are no hash", .unit = "files"),
      SABATH_FIELD(failure, .help = "why it is not in the store", .absent_if_empty = true),
  };
};

template <>
struct Described<HubAdoptionRecord> {
  using Of = HubAdoptionRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "the cache, without symlinks"),
      SABATH_FIELD(assets, .help = "one for each revision"),
      SABATH_FIELD(exit, .help = "the exit code, of the first failure"),
  };
};

std::string to_json(const HubAdoptionRecord& record) { return record_text(record); }

std::string to_json(const AdoptionRecord& record) { return record_text(record); }

static Json call_adopt(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  const auto call = request_in<AdoptionCall>(object);
  if (call.layout == "hf") return record_json(adopt_hub(session, hub_adoption_of(call), events, std::move(stop)));
  return record_json(adopt(session, call, events, std::move(stop)));
}

extern constexpr LibraryVerb adopt_call =
    described<AdoptionCall, AdoptionRecord, HubAdoptionRecord>("adopt", call_adopt);

}  // namespace sabath
