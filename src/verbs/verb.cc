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
  described(cite_call) \
  verb("compare", call_compare) \
  verb("config", call_config) \
  verb("convert", call_convert) \
  verb("convert check", call_convert_check) \
  verb("doctor", call_doctor) \
  described(du_call) \
  verb("export", call_export) \
  verb("fair", call_fair) \
  described(fetch_call) \
  described(fetchers_call) \
  verb("gc", call_gc) \
  verb("hdf5 hash", call_hdf5_hash) \
  verb("hdf5 inspect", call_hdf5_inspect) \
  verb("hdf5 select", call_hdf5_select) \
  verb("import", call_import) \
  verb("infer", call_infer) \
  described(info_call) \
  described(init_call) \
  verb("inspect", call_inspect) \
  verb("keep", call_keep) \
  described(list_call) \
  verb("log", call_log) \
  verb("manifest create", call_manifest_create) \
  verb("manifest diff", call_manifest_diff) \
  verb("manifest export", call_manifest_export) \
  verb("manifest show", call_manifest_show) \
  verb("manifest verify", call_manifest_verify) \
  verb("metrics", call_metrics) \
  described(path_call) \
  described(plan_call) \
  verb("report", call_report) \
  verb("rm", call_remove) \
  verb("run", call_run) \
  verb("sample", call_sample) \
  described(search_call) \
  verb("serve", call_serve) \
  described(stage_call) \
  verb("supporting", call_supporting) \
  verb("task", call_task) \
  verb("trust add", call_trust_add) \
  verb("trust list", call_trust_list) \
  verb("trust revoke", call_trust_revoke) \
  verb("unkeep", call_unkeep) \
  described(unstage_call) \
  verb("verify", call_verify) \
  described(view_call) \
  verb("want", call_want) \
  described(where_call) \
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
