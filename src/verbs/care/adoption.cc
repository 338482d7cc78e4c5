#include "sabath/adoption.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "sabath/path.h"
#include "store/adopt_tree.h"
#include "verbs/assets/assets.h"
#include "verbs/records.h"
#include "verbs/request.h"

namespace sabath {
namespace {

std::optional<Recipe> known_recipe(const SessionSettings& settings, const std::string& name) {
  try {
    return make_catalogue(settings).find(name, std::nullopt);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::not_found) throw;
    return std::nullopt;
  }
}

// `fetch NAME` finds it once it lies in a recipe directory. Lost files can only be adopted again.
std::string recipe_of(const std::string& name, const std::string& directory, const Sha256& root) {
  const std::string step = fmt::format("sabath adopt {} --name {}", directory, name);
  const Json recipe = {{"schema", 1},
                       {"kind", "dataset"},
                       {"name", name},
                       {"access", {{"kind", "private"}, {"steps", {step}}}},
                       {"fragments", Json::array()},
                       {"manifest", {{"digest", root.prefixed()}, {"urls", Json::array()}}}};
  return recipe.dump(2);
}

}  // namespace

AdoptionRecord adopt(Session& session, const AdoptionRequest& request, EventSink& events, std::stop_token stop) {
  check_threads(request.threads);
  const SessionSettings& settings = session.settings();
  const std::string& directory = request.directory.native();
  const auto known = request.name.empty() ? std::nullopt : known_recipe(settings, request.name);
  const auto store = open_stores(settings);
  events.on(event::AssetStarted{directory, std::nullopt, 0});
  events.on(event::PhaseChanged{"hash"});
  const AdoptedTree tree = adopt_tree(*store, request.directory, request.threads, [&](std::uint64_t bytes) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "hashing was stopped");
    events.on(event::BytesReceived{0, bytes});
  });
  events.on(event::AssetFinished{directory});
  const bool pinned = known && known->manifest;
  if (pinned && known->manifest->digest != tree.root) {
    throw Error(FailureKind::content,
                fmt::format("{} has the root {}, and the recipe of {} pins {}", printable(directory),
                            tree.root.prefixed(), known->name, known->manifest->digest.prefixed()),
                "it is another version: adopt it under another name");
  }
  AdoptionRecord record;
  record.manifest = tree.root.prefixed();
  record.directory = std::filesystem::canonical(request.directory);
  record.files = tree.totals.files;
  record.bytes = tree.totals.bytes;
  if (!request.name.empty() && !pinned) record.recipe = recipe_of(request.name, record.directory.native(), tree.root);
  return record;
}

Json json_of(const AdoptionRecord& record) {
  return {{"schema", 1},
          {"manifest", record.manifest},
          {"directory", record.directory.native()},
          {"files", record.files},
          {"bytes", record.bytes},
          {"recipe", record.recipe.empty() ? Json() : Json::parse(record.recipe)},
          {"exit", record.exit}};
}

std::string to_json(const AdoptionRecord& record) { return text_of(json_of(record)); }

Json call_adopt(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const AdoptionRequest asked{request.text("directory"), request.try_text("name").value_or(""), threads_of(request)};
  request.finish();
  return json_of(adopt(session, asked, events, std::move(stop)));
}

}  // namespace sabath
