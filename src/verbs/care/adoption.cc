#include "sabath/adoption.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fields/request.h"
#include "holdings/registration.h"
#include "hub/adopted_cache.h"
#include "hub/revision.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/harvest.h"
#include "store/adopt_tree.h"
#include "verbs/assets/assets.h"
#include "verbs/records.h"

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
  AdoptionRecord record;
  record.manifest = tree.root.prefixed();
  record.directory = std::filesystem::canonical(request.directory);
  record.files = tree.totals.files;
  record.bytes = tree.totals.bytes;
  if (request.name.empty()) return record;
  const std::string steps = fmt::format("sabath adopt {} --name {}", record.directory.native(), request.name);
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
  const std::string steps = fmt::format("sabath adopt --layout hf {}", directory.native());
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

Json json_of(const HubAdoptionRecord& record) {
  Json assets = Json::array();
  for (const AdoptedRepository& asset : record.assets) {
    Json each{{"name", text_or_null(asset.name)},
              {"repository", asset.repository},
              {"commit", asset.commit},
              {"revision", asset.revision},
              {"manifest", text_or_null(asset.manifest)},
              {"files", asset.files},
              {"bytes", asset.bytes},
              {"unchecked", asset.unchecked}};
    if (asset.failure) each["failure"] = failure_json(*asset.failure);
    assets.push_back(std::move(each));
  }
  return {
      {"schema", 1}, {"directory", record.directory.native()}, {"assets", std::move(assets)}, {"exit", record.exit}};
}

std::string to_json(const HubAdoptionRecord& record) { return text_of(json_of(record)); }

Json json_of(const AdoptionRecord& record) {
  return {{"schema", 1},
          {"manifest", record.manifest},
          {"directory", record.directory.native()},
          {"files", record.files},
          {"bytes", record.bytes},
          {"recipe", record.recipe.empty() ? Json() : Json::parse(record.recipe)},
          {"known_by", text_or_null(record.known_by)},
          {"path", text_or_null(record.path.native())},
          {"exit", record.exit}};
}

std::string to_json(const AdoptionRecord& record) { return text_of(json_of(record)); }

Json call_adopt(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const std::string layout = request.try_text("layout").value_or("files");
  if (layout != "files" && layout != "hf") request.fail("layout", "is neither files nor hf");
  if (layout == "hf") {
    const HubAdoptionRequest asked{request.text("directory"), threads_of(request)};
    if (request.try_text("name")) request.fail("name", "is not for \"hf\": each repository has its own");
    request.finish();
    return json_of(adopt_hub(session, asked, events, std::move(stop)));
  }
  const AdoptionRequest asked{request.text("directory"), request.try_text("name").value_or(""), threads_of(request)};
  request.finish();
  return json_of(adopt(session, asked, events, std::move(stop)));
}

}  // namespace sabath
