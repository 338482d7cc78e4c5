// The jobs that were submitted in a directory, and how they do. One thread. Throws what a queue throws.
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "sabath/event.h"
#include "sabath/verbs/job.h"

namespace sabath {

inline constexpr std::size_t listed_jobs_max = 100;

// The newest first. A scheduler that has not answered once is not asked again.
[[nodiscard]] std::vector<ListedJob> list_jobs_in(const std::filesystem::path& place, EventSink& events,
                                                  const std::stop_token& stop);

}  // namespace sabath
