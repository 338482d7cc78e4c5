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
  described(config_call) \
  verb("convert", call_convert) \
  verb("convert check", call_convert_check) \
  described(doctor_call) \
  described(du_call) \
  verb("export", call_export) \
  verb("fair", call_fair) \
  verb("fetch", call_fetch) \
  verb("fetchers", call_fetchers) \
  verb("gc", call_gc) \
  described(hdf5_hash_call) \
  described(hdf5_inspect_call) \
  described(hdf5_select_call) \
  verb("import", call_import) \
  verb("infer", call_infer) \
  verb("info", call_info) \
  described(init_call) \
  described(inspect_call) \
  verb("keep", call_keep) \
  verb("list", call_list) \
  verb("log", call_log) \
  described(manifest_create_call) \
  described(manifest_diff_call) \
  described(manifest_export_call) \
  described(manifest_show_call) \
  described(manifest_verify_call) \
  verb("metrics", call_metrics) \
  verb("path", call_path) \
  verb("plan", call_plan) \
  verb("report", call_report) \
  verb("rm", call_remove) \
  verb("run", call_run) \
  verb("sample", call_sample) \
  verb("search", call_search) \
  described(serve_call) \
  verb("stage", call_stage) \
  verb("supporting", call_supporting) \
  verb("task", call_task) \
  verb("trust add", call_trust_add) \
  verb("trust list", call_trust_list) \
  verb("trust revoke", call_trust_revoke) \
  verb("unkeep", call_unkeep) \
  verb("unstage", call_unstage) \
  described(verify_call) \
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
  Json all{{"name", verb.name}};
  all["request"] = verb.make_request == nullptr ? Json::array() : description_of(verb.request, verb.make_request().get());
  all["record"] = description_of(verb.record);
  if (!verb.other_record.empty()) all["other_record"] = description_of(verb.other_record);
  return all;
}

}  // namespace sabath
