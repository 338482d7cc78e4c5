#include "sabath/want.h"

#include <nlohmann/json.hpp>
#include <span>

#include "base/file.h"
#include "verbs/assets/assets.h"
#include "verbs/care/bundle_files.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {

WantRecord want(Session& session, const WantRequest& request, EventSink&, std::stop_token) {
  const SessionSettings& settings = session.settings();
  const auto store = open_stores(settings);
  std::vector<WantedAsset> assets;
  for (const auto& name : request.names) {
    const BundledAsset asset = bundled_asset(name, settings, *store);
    assets.push_back({asset.name, asset.root});
  }
  const WantList list = make_want_list(*store, std::move(assets));
  WantRecord record;
  record.file = request.file;
  record.assets = list.assets.size();
  record.pieces = list.pieces.size();
  record.missing = list.kind == WantList::Kind::missing;
  record.list = encode_want_list(list);
  if (request.file.empty()) return record;
  OutputFile output(request.file.string());
  write_all(output.fd(), std::as_bytes(std::span(record.list)), request.file);
  output.finish();
  record.list.clear();
  return record;
}

Json json_of(const WantRecord& record) {
  return {{"schema", 1},
          {"file", record.file.string()},
          {"assets", record.assets},
          {"kind", record.missing ? "missing" : "have"},
          {"pieces", record.pieces},
          {"exit", record.exit}};
}

std::string to_json(const WantRecord& record) { return text_of(json_of(record)); }

Json call_want(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const WantRequest asked{request.some_texts("names"), request.text("output")};
  if (asked.file == "-") request.fail("output", "is no file");
  request.finish();
  return json_of(want(session, asked, events, std::move(stop)));
}

}  // namespace sabath
