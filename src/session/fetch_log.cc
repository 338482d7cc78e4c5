#include "session/fetch_log.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "store/store.h"

namespace sabath {

namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json selection_json(const Selection& selection) {
  if (selection.empty()) return nullptr;
  return {{"sample", selection.sample ? Json(*selection.sample) : Json(nullptr)}, {"select", selection.select}};
}

}  // namespace

Json to_json(const AssetRecord& record) {
  Json sources = Json::array(), resolved = Json::array(), failures = Json::array();
  for (const auto& source : record.sources) {
    sources.push_back({{"url", source.url},
                       {"bytes", source.bytes},
                       {"requests", source.requests},
                       {"failures", source.failures},
                       {"demoted", source.demoted},
                       {"reason", text_or_null(source.reason)}});
    if (source.believed) sources.back()["believed"] = true;
  }
  for (const auto& [url, version] : record.resolved) {
    resolved.push_back({{"url", url}, {"version", text_or_null(version)}});
  }
  for (const auto& [path, failure] : record.failures) {
    failures.push_back({{"path", path},
                        {"kind", name(failure.kind)},
                        {"message", failure.message},
                        {"hint", text_or_null(failure.hint)}});
  }
  return {{"name", record.name},
          {"kind", kind_name(record.kind)},
          {"manifest", text_or_null(record.manifest)},
          {"path", text_or_null(record.path)},
          {"trusted_by", text_or_null(record.trusted_by)},
          {"selection", selection_json(record.selection)},
          {"packed", record.packed},
          {"view_inodes", record.packed ? Json(record.view_inodes) : Json(nullptr)},
          {"files", record.files},
          {"bytes", record.bytes},
          {"fetched_bytes", record.fetched_bytes},
          {"reused_bytes", record.reused_bytes()},
          {"reused",
           {{"source", record.reused[0]},
            {"content", record.reused[1]},
            {"chunk", record.reused[2]},
            {"partial", record.reused[3]}}},
          {"to_fetch_bytes", record.to_fetch_bytes ? Json(*record.to_fetch_bytes) : Json(nullptr)},
          {"seconds", record.seconds},
          {"sources", sources},
          {"resolved", resolved},
          {"failures", failures}};
}

void append_to_log(Store& store, const AssetRecord& record) {
  Json line = {{"time", unix_time<std::chrono::seconds>()}};
  line.update(to_json(record));
  store.append_record(line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace sabath
