// Jobs and their outcomes as bytes between ranks. Pure; any thread. Reading throws Error{internal} for bytes that are
// no such parcel.
#pragma once

#include <vector>

#include "comm/parcel.h"
#include "fetch/decide/job.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

void put_job(Parcel& parcel, const FileJob& job);  // all but `follower` and `inspect`, which stay where they are
[[nodiscard]] FileJob get_job(Parcel::Reader& parcel);

void put_outcome(Parcel& parcel, const FileOutcome& outcome);
[[nodiscard]] FileOutcome get_outcome(Parcel::Reader& parcel);

void put_rule(Parcel& parcel, const HostRule& rule);
[[nodiscard]] HostRule get_rule(Parcel::Reader& parcel);

void put_source(Parcel& parcel, const SourceRecord& source);
[[nodiscard]] SourceRecord get_source(Parcel::Reader& parcel);

}  // namespace sabath
