// The scheduler of a machine, with its partitions. One thread. Throws Error{interrupted}.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/verbs/site.h"
#include "software/programs.h"

namespace sabath {

void detect_scheduler(Programs& programs, SiteProfile& profile);

// Lines of `sinfo --noheader --format=%P|%a|%l|%D|%c|%m|%G|%f`; the usual partition has a star.
[[nodiscard]] std::vector<SitePartition> parse_sinfo(std::string_view text);
// The word that says that a partition or a feature of nodes is for copying data: "dtn" of "dtn-ib"; empty: none.
[[nodiscard]] std::string word_of_transfer(std::string_view text);
// "2-12:00:00", "30:00", "infinite": in seconds; nullopt: no limit, or another form.
[[nodiscard]] std::optional<std::uint64_t> seconds_of_limit(std::string_view text);
// GPUs of "gpu:a100:4(S:0-1),shard:8": 4.
[[nodiscard]] std::uint64_t gpus_of_gres(std::string_view text);

}  // namespace sabath
