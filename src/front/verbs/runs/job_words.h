// Words of the commands in a job's script. Any thread.
#pragma once

#include <string>

#include "harness/resolved_run.h"

namespace sabath {

[[nodiscard]] std::string new_job_id();
// A name that may be a file's: the job works in another directory.
[[nodiscard]] std::string settled(const std::string& name);
[[nodiscard]] std::string absolute_list(const std::string& paths);  // separated by colons
[[nodiscard]] std::string escaped_commas(const std::string& value);

// The record that the request names as its lock, whole, if this site has what it locks; empty: the request has none.
// Throws as `run` would with this lock.
[[nodiscard]] std::string text_of_lock(const RunCall& call, const Site& site);

}  // namespace sabath
