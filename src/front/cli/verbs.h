// The verbs with a file below commands/; verbs/verb.cc has all. groups.cc says where the help text has each. NAME
// stands for the constant NAME_verb of the file.
#pragma once

#include "cli/verb.h"

#define SABATH_CLI_VERBS(NAME) \
  NAME(fetch)                  \
  NAME(plan)                   \
  NAME(stage)                  \
  NAME(unstage)                \
  NAME(run)                    \
  NAME(job)                    \
  NAME(job_answer)             \
  NAME(env_lock)               \
  NAME(supporting)             \
  NAME(apply)                  \
  NAME(trust_add)              \
  NAME(trust_list)             \
  NAME(trust_revoke)           \
  NAME(report)                 \
  NAME(compare)                \
  NAME(log)                    \
  NAME(sample)                 \
  NAME(list)                   \
  NAME(search)                 \
  NAME(info)                   \
  NAME(fair)                   \
  NAME(catalogue_new)          \
  NAME(catalogue_edit)         \
  NAME(catalogue_pin)          \
  NAME(catalogue_rm)           \
  NAME(catalogue_export)       \
  NAME(catalogue_subscribe)    \
  NAME(catalogue_update)       \
  NAME(catalogue_unsubscribe)  \
  NAME(catalogue_list)         \
  NAME(path)                   \
  NAME(view)                   \
  NAME(where)                  \
  NAME(cite)                   \
  NAME(verify)                 \
  NAME(du)                     \
  NAME(gc)                     \
  NAME(rm)                     \
  NAME(keep)                   \
  NAME(unkeep)                 \
  NAME(adopt)                  \
  NAME(init)                   \
  NAME(want)                   \
  NAME(export)                 \
  NAME(import)                 \
  NAME(manifest_create)        \
  NAME(manifest_show)          \
  NAME(manifest_diff)          \
  NAME(manifest_verify)        \
  NAME(manifest_export)        \
  NAME(inspect)                \
  NAME(hdf5_inspect)           \
  NAME(hdf5_select)            \
  NAME(hdf5_hash)              \
  NAME(convert)                \
  NAME(infer)                  \
  NAME(task)                   \
  NAME(serve)                  \
  NAME(fetchers)               \
  NAME(doctor)                 \
  NAME(site_detect)            \
  NAME(site_show)              \
  NAME(demo)                   \
  NAME(config)                 \
  NAME(help)

namespace sabath::cli {

#define SABATH_DECLARE(name) extern const Verb name##_verb;
SABATH_CLI_VERBS(SABATH_DECLARE)
#undef SABATH_DECLARE

}  // namespace sabath::cli
