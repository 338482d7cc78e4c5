#include "verbs/verb.h"

#include <nlohmann/json.hpp>

#include "sabath/error.h"

// One line a verb, in the order of their names.
// clang-format off
#define SABATH_VERBS(described) \
  described(adopt_call) \
  described(apply_call) \
  described(catalogue_edit_call) \
  described(catalogue_export_call) \
  described(catalogue_list_call) \
  described(catalogue_new_call) \
  described(catalogue_pin_call) \
  described(catalogue_rm_call) \
  described(catalogue_subscribe_call) \
  described(catalogue_unsubscribe_call) \
  described(catalogue_update_call) \
  described(cite_call) \
  described(compare_call) \
  described(config_call) \
  described(convert_call) \
  described(convert_check_call) \
  described(doctor_call) \
  described(du_call) \
  described(env_diff_call) \
  described(env_image_call) \
  described(env_list_call) \
  described(env_lock_call) \
  described(env_pack_call) \
  described(env_show_call) \
  described(export_call) \
  described(fair_call) \
  described(fetch_call) \
  described(fetchers_call) \
  described(gc_call) \
  described(hdf5_hash_call) \
  described(hdf5_inspect_call) \
  described(hdf5_select_call) \
  described(help_call) \
  described(import_call) \
  described(infer_call) \
  described(info_call) \
  described(init_call) \
  described(inspect_call) \
  described(job_call) \
  described(keep_call) \
  described(list_call) \
  described(log_call) \
  described(manifest_create_call) \
  described(manifest_diff_call) \
  described(manifest_export_call) \
  described(manifest_show_call) \
  described(manifest_verify_call) \
  described(metrics_call) \
  described(path_call) \
  described(plan_call) \
  described(report_call) \
  described(rm_call) \
  described(run_call) \
  described(sample_call) \
  described(search_call) \
  described(serve_call) \
  described(site_detect_call) \
  described(site_diff_call) \
  described(site_show_call) \
  described(site_solve_call) \
  described(stage_call) \
  described(supporting_call) \
  described(task_call) \
  described(trust_add_call) \
  described(trust_list_call) \
  described(trust_revoke_call) \
  described(unkeep_call) \
  described(unstage_call) \
  described(verify_call) \
  described(view_call) \
  described(want_call) \
  described(where_call) \
// clang-format on

namespace sabath {

#define SABATH_DECLARE(call) extern const LibraryVerb call;
SABATH_VERBS(SABATH_DECLARE)
#undef SABATH_DECLARE

std::span<const LibraryVerb> library_verbs() {
#define SABATH_ENTRY(call) call,
  static const LibraryVerb all[] = {SABATH_VERBS(SABATH_ENTRY)};
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
