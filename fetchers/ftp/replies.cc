#include "ftp/replies.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/text.h"

namespace sabath {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool looks_like_time(std::string_view text) {
  const std::string_view whole = text.substr(0, text.find('.'));  // fractions of a second may follow
  return whole.size() == 14 && is_digits(whole) && (whole.starts_with("19") || whole.starts_with("20")) &&
         whole.substr(4, 2) <= "12" && whole.substr(6, 2) <= "31" && whole.substr(8, 2) <= "23";
}

}  // namespace

bool says_no_permission(std::string_view refusal) {
  const std::string words = to_lower(refusal);
  return words.find("permission") != std::string::npos || words.find("access") != std::string::npos;
}

void note_reply(FtpFacts& facts, std::string_view line) {
  constexpr std::size_t refusal_max = 512;
  if (line.size() > 3 && line[0] == '5' && is_digits(line.substr(0, 3)) && line[3] == ' ') {
    facts.refusal = trim(line.substr(0, refusal_max));
  }
  if (!line.starts_with("213 ")) return;
  const std::string_view text = line.substr(4);
  if (facts.modified.empty() && !facts.size_bytes && looks_like_time(text)) {
    facts.modified = text.substr(0, 32);
    return;
  }
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc() && end == text.data() + text.size()) facts.size_bytes = size;
}

}  // namespace sabath
