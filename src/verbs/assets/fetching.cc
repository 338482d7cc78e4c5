#include <algorithm>
#include <nlohmann/json.hpp>

#include "sabath/plan.h"
#include "sabath/session.h"
#include "session/fetch_log.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// Reads the assets that are wanted, and the parts of them.
FetchRequest read_wanted(JsonObject& object) {
  FetchRequest request;
  request.names = object.texts("names");
  request.models = object.texts("models");
  request.datasets = object.texts("datasets");
  request.name = object.try_text("name").value_or("");
  request.selection.sample = object.try_uint("sample");
  request.selection.select = object.texts("select");
  request.force = object.flag("force");
  return request;
}

FetchRequest read_fetch_request(JsonObject& object) {
  FetchRequest request = read_wanted(object);
  request.manifest = object.try_text("manifest").value_or("");
  request.local_paths = object.texts("path");
  request.local_links = object.texts("link");
  request.refresh = object.flag("refresh");
  request.keep_archives = object.flag("keep_archives");
  request.view = object.find("view") == nullptr || object.flag("view");
  request.dry_run = object.flag("dry_run");
  object.finish();
  return request;
}

}  // namespace

Json json_of(const FetchRecord& record) {
  Json assets = Json::array();
  for (const AssetRecord& asset : record.assets) assets.push_back(to_json(asset));
  return {{"schema", 1}, {"assets", std::move(assets)}, {"exit", record.exit}};
}

std::string to_json(const FetchRecord& record) { return text_of(json_of(record)); }

Json call_fetch(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  return json_of(session.fetch(read_fetch_request(object), events, std::move(stop)));
}

Json call_plan(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  PlanRequest request;
  request.fetch = read_wanted(object);
  request.to = object.try_text("to").value_or("");
  request.requests_max = static_cast<unsigned>(
      std::min<std::uint64_t>(object.try_uint("requests").value_or(request.requests_max), 10'000));
  object.finish();
  return json_of(session.plan(request, events, std::move(stop)));
}

}  // namespace sabath
