// Parses the output of programs and /proc about quotas and mounts, strictly.
#include <sys/sysmacros.h>

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "machine/quota.h"

namespace sabath {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

// "2d3h", "6d23h59m58s": the rest of the grace; "-": it has not begun; "none", "expired": it is over.
std::optional<std::int64_t> try_grace(std::string_view word) {
  if (word == "-") return 0;
  if (word == "none" || word == "expired") return 1;  // long ago
  if (word.empty() || word.find_first_not_of("0123456789wdhms") != std::string_view::npos) return std::nullopt;
  return INT64_MAX;
}

// Four words: used, soft, hard, grace. A star after `used` means too much, brackets mean a guess.
std::optional<QuotaUse> try_use(std::span<const std::string_view> words) {
  std::string_view used = words[0];
  if (used.ends_with('*')) used.remove_suffix(1);
  const auto count = try_whole_number(used), soft = try_whole_number(words[1]), hard = try_whole_number(words[2]);
  const auto grace = try_grace(words[3]);
  if (!count || !soft || !hard || !grace) return std::nullopt;
  return QuotaUse{*count, *soft, *hard, *grace};
}

}  // namespace

std::optional<LustreAnswer> try_parse_lfs_quota(std::string_view text) {
  constexpr std::size_t columns = 9;  // filesystem, four of bytes, four of files; a long name stands on its own line
  const auto words = words_of(text);
  if (words.size() != columns || !words[0].starts_with('/')) return std::nullopt;
  const auto kib = try_use(std::span(words).subspan(1, 4)), files = try_use(std::span(words).subspan(5, 4));
  if (!kib || !files) return std::nullopt;
  return LustreAnswer{*kib, *files};
}

// proc(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue".
std::string device_of_mount(std::string_view mountinfo, dev_t device) {
  const std::string number = fmt::format("{}:{}", major(device), minor(device));
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(mountinfo.size(), line.size() + 1));
    const auto words = words_of(line);
    if (words.size() < 7 || words[2] != number) continue;
    for (std::size_t i = 6; i + 2 < words.size(); ++i) {
      if (words[i] == "-") return std::string(words[i + 2].starts_with('/') ? words[i + 2] : "");
    }
  }
  return "";
}

}  // namespace sabath
