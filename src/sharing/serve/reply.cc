#include "serve/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "base/text.h"

namespace sabath {
namespace {

// How two entity tags are compared (RFC 9110 section 8.8.3.2). Ours are strong.
enum class Comparison { strong, weak };

// A list of entity tags has this one, or is "*".
bool lists(std::string_view tags, std::string_view etag, Comparison how) {
  if (trim(tags) == "*") return true;
  while (!tags.empty()) {
    const std::size_t comma = tags.find(',');
    std::string_view tag = trim(tags.substr(0, comma));
    if (how == Comparison::weak && tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag) return true;
    tags = comma == tags.npos ? std::string_view() : tags.substr(comma + 1);
  }
  return false;
}

std::optional<std::uint64_t> try_parse_position(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return UINT64_MAX;
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// nullopt: not a range that we understand, so the header counts as absent.
std::optional<Reply> try_range(std::string_view range, std::uint64_t size) {
  range = trim(range);
  if (to_lower(range.substr(0, 6)) != "bytes=") return std::nullopt;
  range.remove_prefix(6);
  const std::size_t dash = range.find('-');
  if (dash == range.npos) return std::nullopt;
  const std::string_view from = range.substr(0, dash), to = range.substr(dash + 1);
  const auto first = try_parse_position(from), last = try_parse_position(to);
  if ((!from.empty() && !first) || (!to.empty() && !last) || (from.empty() && to.empty())) return std::nullopt;
  if (first && last && *last < *first) return std::nullopt;
  if (from.empty()) {
    const std::uint64_t length = std::min(*last, size);
    return length == 0 ? Reply{416, 0, 0} : Reply{206, size - length, length};
  }
  if (*first >= size) return Reply{416, 0, 0};
  return Reply{206, *first, std::min(last.value_or(UINT64_MAX), size - 1) - *first + 1};
}

}  // namespace

Reply reply_to(const Conditions& conditions, std::uint64_t size_bytes, std::string_view etag) {
  if (!conditions.if_match.empty() && !lists(conditions.if_match, etag, Comparison::strong)) return {412, 0, 0};
  if (!conditions.if_none_match.empty() && lists(conditions.if_none_match, etag, Comparison::weak)) return {304, 0, 0};
  const bool same = conditions.if_range.empty() || trim(conditions.if_range) == etag;
  if (!conditions.range.empty() && same) {
    if (const auto part = try_range(conditions.range, size_bytes)) return *part;
  }
  return {200, 0, size_bytes};
}

std::string content_range(const Reply& reply, std::uint64_t size_bytes) {
  if (reply.status != 206) return fmt::format("bytes */{}", size_bytes);
  return fmt::format("bytes {}-{}/{}", reply.offset, reply.offset + reply.length - 1, size_bytes);
}

}  // namespace sabath
