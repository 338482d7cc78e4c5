#include "sabath/adoption.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sabath/error.h"
#include "sabath/path.h"
#include "session/registration.h"
#include "store/adopt_tree.h"
#include "verbs/assets/assets.h"
#include "verbs/records.h"
#include "verbs/request.h"

namespace sabath {
AdoptionRecord adopt(Session& session, const AdoptionRequest& request, EventSink& events, std::stop_token stop) {
  check_threads(request.threads);
  const SessionSettings& settings = session.settings();
  const std::string& directory = request.directory.native();
  if (!request.name.empty()) check_name(request.name);
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
  if (known.leads_here) record.known_by = std::move(known.file);
  // A recipe of a directory that pins nothing has the name: its user may want this text instead.
  record.recipe = !known.leads_here ? recipe_text(request.name, tree.root, steps) : std::move(known.recipe);
  return record;
}

Json json_of(const AdoptionRecord& record) {
  return {{"schema", 1},
          {"manifest", record.manifest},
          {"directory", record.directory.native()},
          {"files", record.files},
          {"bytes", record.bytes},
          {"recipe", record.recipe.empty() ? Json() : Json::parse(record.recipe)},
          {"known_by", text_or_null(record.known_by)},
          {"exit", record.exit}};
}

std::string to_json(const AdoptionRecord& record) { return text_of(json_of(record)); }

Json call_adopt(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const AdoptionRequest asked{request.text("directory"), request.try_text("name").value_or(""), threads_of(request)};
  request.finish();
  return json_of(adopt(session, asked, events, std::move(stop)));
}

}  // namespace sabath
