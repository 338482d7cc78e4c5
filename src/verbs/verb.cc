#include "verbs/verb.h"

#include <nlohmann/json.hpp>

#include "sabath/error.h"

// One line a verb, in the order of their names.
// clang-format off
#define SABATH_VERBS(verb, described) \
  verb("adopt", call_adopt) \
  verb("apply", call_apply) \
  verb("catalogue edit", call_catalogue_edit) \
  verb("catalogue export", call_catalogue_export) \
  verb("catalogue list", call_catalogue_list) \
  verb("catalogue new", call_catalogue_new) \
  verb("catalogue pin", call_catalogue_pin) \
  verb("catalogue rm", call_catalogue_rm) \
  verb("catalogue subscribe", call_catalogue_subscribe) \
  verb("catalogue unsubscribe", call_catalogue_unsubscribe) \
  verb("catalogue update", call_catalogue_update) \
  verb("cite", call_cite) \
  verb("compare", call_compare) \
  verb("config", call_config) \
  verb("convert", call_convert) \
  verb("convert check", call_convert_check) \
  verb("doctor", call_doctor) \
  described(du_call) \
  verb("export", call_export) \
  verb("fair", call_fair) \
  verb("fetch", call_fetch) \
  verb("fetchers", call_fetchers) \
  verb("gc", call_gc) \
  verb("hdf5 hash", call_hdf5_hash) \
  verb("hdf5 inspect", call_hdf5_inspect) \
  verb("hdf5 select", call_hdf5_select) \
  verb("import", call_import) \
  verb("infer", call_infer) \
  verb("info", call_info) \
  described(init_call) \
  verb("inspect", call_inspect) \
  verb("keep", call_keep) \
  verb("list", call_list) \
  verb("log", call_log) \
  verb("manifest create", call_manifest_create) \
  verb("manifest diff", call_manifest_diff) \
  verb("manifest export", call_manifest_export) \
  verb("manifest show", call_manifest_show) \
  verb("manifest verify", call_manifest_verify) \
  verb("metrics", call_metrics) \
  verb("path", call_path) \
  verb("plan", call_plan) \
  verb("report", call_report) \
  verb("rm", call_remove) \
  verb("run", call_run) \
  verb("sample", call_sample) \
  verb("search", call_search) \
  verb("serve", call_serve) \
  verb("stage", call_stage) \
  verb("supporting", call_supporting) \
  verb("task", call_task) \
  verb("trust add", call_trust_add) \
  verb("trust list", call_trust_list) \
  verb("trust revoke", call_trust_revoke) \
  verb("unkeep", call_unkeep) \
  verb("unstage", call_unstage) \
  verb("verify", call_verify) \
  verb("view", call_view) \
  verb("want", call_want) \
  verb("where", call_where) \
// clang-format on

namespace sabath {

#define SABATH_DECLARE(name, call) Json call(Session&, JsonObject&, EventSink&, std::stop_token);
#define SABATH_DECLARE_DESCRIBED(call) extern const LibraryVerb call;
SABATH_VERBS(SABATH_DECLARE, SABATH_DECLARE_DESCRIBED)
#undef SABATH_DECLARE_DESCRIBED
#undef SABATH_DECLARE

std::span<const LibraryVerb> library_verbs() {
#define SABATH_ENTRY(name, call) LibraryVerb{name, call},
#define SABATH_ENTRY_DESCRIBED(call) call,
  static const LibraryVerb all[] = {SABATH_VERBS(SABATH_ENTRY, SABATH_ENTRY_DESCRIBED)};
#undef SABATH_ENTRY_DESCRIBED
#undef SABATH_ENTRY
  return all;
}

Json description_of(const LibraryVerb& verb) {
  return {{"name", verb.name}, {"request", description_of(verb.request)}, {"record", description_of(verb.record)}};
}

std::string text_of(const Json& record) { return record.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json until_or_null(std::int64_t until_ns) {
  const bool known = until_ns != 0 && until_ns != INT64_MAX;
  return known ? Json(until_ns / 1'000'000'000) : Json();
}

Json value_or_null(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(nullptr); }

Json failure_json(const Failure& failure) {
  return {{"kind", name(failure.kind)}, {"message", failure.message}, {"hint", text_or_null(failure.hint)}};
}

Json failure_record(const Failure& failure, int exit) {
  return {{"schema", 1}, {"error", failure_json(failure)}, {"exit", exit}};
}

}  // namespace sabath
