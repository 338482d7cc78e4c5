#include "cli/verbs.h"

#include <array>

namespace sabath::cli {

std::span<const Verb* const> verbs() {
  static constexpr std::array all{
      &fetch_verb,
      &plan_verb,
      &stage_verb,
      &unstage_verb,
      &run_verb,
      &report_verb,
      &compare_verb,
      &log_verb,
      &sample_verb,
      &list_verb,
      &search_verb,
      &info_verb,
      &path_verb,
      &view_verb,
      &where_verb,
      &cite_verb,
      &verify_verb,
      &du_verb,
      &gc_verb,
      &pin_verb,
      &unpin_verb,
      &adopt_verb,
      &init_verb,
      &want_verb,
      &export_verb,
      &import_verb,
      &manifest_create_verb,
      &manifest_show_verb,
      &manifest_diff_verb,
      &manifest_verify_verb,
      &manifest_export_verb,
      &hdf5_inspect_verb,
      &hdf5_select_verb,
      &hdf5_hash_verb,
      &serve_verb,
      &fetchers_verb,
      &doctor_verb,
      &config_verb,
      &help_verb,
  };
  return all;
}

}  // namespace sabath::cli
