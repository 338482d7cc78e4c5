// Where a job may write: nowhere that SABATH reads from later on, and for a call from another machine nowhere hidden.
// One thread.
#pragma once

#include <filesystem>

#include "hosts/call_text.h"
#include "sabath/environment.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/job.h"

namespace sabath {

// Throws Error{usage} for a directory below those of the configuration, the state, the data, the stores and the
// recipes.
void refuse_kept_place(const std::filesystem::path& directory, const SessionSettings& settings,
                       const Environment& environment);
// What a call from another machine may name on this side: recipes and a profile by name, and no file as one, since what
// is in it would count as this user's own; an image of a container by a file that he or a trusted owner wrote; no
// hidden place, such as ~/.ssh. Throws Error{usage}, Error{access}.
void refuse_files_of_call(const JobRequest& request, const HostCall& call, const SessionSettings& settings);

}  // namespace sabath
