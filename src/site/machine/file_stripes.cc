#include "machine/file_stripes.h"

#include <algorithm>
#include <charconv>

#include "base/process.h"
#include "sabath/error.h"

namespace sabath {

std::optional<std::uint64_t> try_parse_lfs_stripe(std::string_view text) {
  constexpr std::string_view blank = " \t\n";
  std::optional<std::uint64_t> largest;
  for (auto at = text.find_first_not_of(blank); at != text.npos; at = text.find_first_not_of(blank)) {
    text.remove_prefix(at);
    const std::string_view word = text.substr(0, text.find_first_of(blank));
    std::uint64_t bytes = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), bytes);
    if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
    largest = std::max(largest.value_or(0), bytes);
    text.remove_prefix(word.size());
  }
  return largest.value_or(0) > 0 ? largest : std::nullopt;
}

std::optional<std::uint64_t> lustre_stripe_bytes(const std::filesystem::path& file, const std::string& program,
                                                 std::chrono::milliseconds deadline, const std::stop_token& stop) {
  try {
    const auto result = run_command({.argv = {program, "getstripe", "-S", file.native()},
                                     .environment = {{"LC_ALL", "C"}},
                                     .directory = {},
                                     .deadline = deadline,
                                     .output_max = 4096},
                                    stop);
    return result.status == 0 ? try_parse_lfs_stripe(result.out) : std::nullopt;
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
    return std::nullopt;
  }
}

}  // namespace sabath
