#include "sabath/schemes.h"

#include <nlohmann/json.hpp>
#include <set>

#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {

FetchersRecord list_fetchers(Session& session, const FetchersRequest&, EventSink&, std::stop_token) {
  FetchersRecord record;
  std::set<std::string> seen;
  for (Scheme& scheme : make_fetchers(session.settings().fetchers)->schemes()) {
    const bool first = seen.insert(scheme.name).second;
    record.schemes.push_back({std::move(scheme), first});
  }
  return record;
}

Json json_of(const FetchersRecord& record) {
  Json json{{"schemes", Json::array()}};
  for (const auto& [scheme, first] : record.schemes) {
    json["schemes"].push_back({{"name", scheme.name},
                               {"built", scheme.built},
                               {"ranges", scheme.ranges},
                               {"resolver", scheme.resolver},
                               {"command", scheme.command},
                               {"by", text_or_null(scheme.by)},
                               {"used", scheme.built && first}});
  }
  return json;
}

std::string to_json(const FetchersRecord& record) { return text_of(json_of(record)); }

Json call_fetchers(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  request.finish();
  return json_of(list_fetchers(session, {}, events, std::move(stop)));
}

}  // namespace sabath
