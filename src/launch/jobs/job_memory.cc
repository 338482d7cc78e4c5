#include "jobs/job_memory.h"

#include <string>

#include "base/text.h"

namespace sabath {

std::optional<std::uint64_t> try_job_memory(std::string_view text) {
  const std::string lower = to_lower(trim(text));
  const auto unit = lower.find_last_of("0123456789.") + 1;  // 0: it begins with no number
  if (unit == 0 || unit == lower.size()) return std::nullopt;
  constexpr std::string_view letters = "kmgtp";
  const bool is_letter_alone = trim(std::string_view(lower).substr(unit)).size() == 1;
  return parse_size(is_letter_alone && letters.find(lower.back()) != letters.npos ? lower + "ib" : lower);
}

}  // namespace sabath
