// Every verb of the program; verbs.cc has them in the order of the help text. A new one is one line here, one there.
#pragma once

#include "cli/verb.h"

namespace sabath::cli {

extern const Verb plan_verb;
extern const Verb fetch_verb, list_verb, search_verb, info_verb, path_verb, where_verb, cite_verb;
extern const Verb stage_verb, unstage_verb, run_verb, verify_verb, du_verb, gc_verb, pin_verb, unpin_verb;
extern const Verb manifest_create_verb, manifest_show_verb, manifest_diff_verb, manifest_verify_verb,
    manifest_export_verb;
extern const Verb view_verb;
extern const Verb hdf5_inspect_verb, hdf5_select_verb, hdf5_hash_verb;
extern const Verb init_verb, adopt_verb, export_verb, import_verb, want_verb;
extern const Verb log_verb, report_verb, compare_verb, sample_verb;
extern const Verb serve_verb, fetchers_verb, doctor_verb, config_verb, help_verb;

}  // namespace sabath::cli
