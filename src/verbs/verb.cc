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
  described(compare_call) \
  verb("config", call_config) \
  described(convert_call) \
  described(convert_check_call) \
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
  described(infer_call) \
  verb("info", call_info) \
  described(init_call) \
  verb("inspect", call_inspect) \
  verb("keep", call_keep) \
  verb("list", call_list) \
  described(log_call) \
  verb("manifest create", call_manifest_create) \
  verb("manifest diff", call_manifest_diff) \
  verb("manifest export", call_manifest_export) \
  verb("manifest show", call_manifest_show) \
  verb("manifest verify", call_manifest_verify) \
  described(metrics_call) \
  verb("path", call_path) \
  verb("plan", call_plan) \
  described(report_call) \
  verb("rm", call_remove) \
  described(run_call) \
  described(sample_call) \
  verb("search", call_search) \
  verb("serve", call_serve) \
  verb("stage", call_stage) \
  verb("supporting", call_supporting) \
  described(task_call) \
  described(trust_add_call) \
  described(trust_list_call) \
  described(trust_revoke_call) \
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
  Json all{{"name", verb.name}};
  all["request"] = verb.make_request == nullptr ? Json::array() : description_of(verb.request, verb.make_request().get());
  all["record"] = description_of(verb.record);
  if (!verb.other_record.empty()) all["other_record"] = description_of(verb.other_record);
  return all;
}

}  // namespace sabath
