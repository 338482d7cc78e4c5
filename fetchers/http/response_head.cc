#include "http/response_head.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t head_size_max = 64 * 1024;  // bytes, over all heads of one response

void add_value(std::string& list, std::string_view value) { list += (list.empty() ? "" : ",") + std::string(value); }

// The registered codings, and others that change bytes. People and stores also write there what is none: a character
// set, a media type, "none", "aws-chunked" (how the bytes were sent to the store).
bool names_coding(std::string_view word) {
  constexpr std::array<std::string_view, 26> codings = {
      "aes128gcm", "br",     "brotli", "bz2", "bzip2", "compress", "dcb",          "dcz",       "deflate",
      "exi",       "gz",     "gzip",   "lz4", "lzma",  "lzip",     "pack200-gzip", "sdch",      "snappy",
      "x-bzip2",   "x-bzip", "x-gzip", "xz",  "zip",   "zlib",     "zstd",         "x-compress"};
  return std::ranges::find(codings, to_lower(word)) != codings.end();
}

std::optional<std::uint64_t> try_parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ContentRange> try_parse_content_range(std::string_view text) {
  constexpr std::string_view unit = "bytes ";
  if (to_lower(text.substr(0, unit.size())) != unit) return std::nullopt;
  text.remove_prefix(unit.size());
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  const std::string_view interval = text.substr(0, slash);
  const std::string_view size = text.substr(slash + 1);
  ContentRange range;
  if (size != "*") {
    range.total = try_parse_number(size);
    if (!range.total) return std::nullopt;
  }
  if (interval == "*") return range.total ? std::optional(range) : std::nullopt;
  const std::size_t dash = interval.find('-');
  if (dash == interval.npos) return std::nullopt;
  range.first = try_parse_number(interval.substr(0, dash));
  range.last = try_parse_number(interval.substr(dash + 1));
  if (!range.first || !range.last || *range.first > *range.last) return std::nullopt;
  if (range.total && *range.last >= *range.total) return std::nullopt;
  return range;
}

bool HeadParser::feed(std::string_view line) {
  size_bytes_ += line.size() + 2;
  if (size_bytes_ > head_size_max) refuse(fmt::format("its headers are longer than {} bytes", head_size_max));
  if (line.empty()) {
    if (head_.status == 0) refuse("its head has no status line");
    if (chunked_) head_.content_length.reset();  // RFC 9112 section 6.3: the coding overrides the length
    if (head_.status >= 200) return true;
    head_ = {};
    chunked_ = false;
    return false;
  }
  if (head_.status == 0) {
    feed_status_line(line);
    return false;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) refuse("a header line has no colon: " + printable(line, 60));
  feed_field(to_lower(line.substr(0, colon)), trim(line.substr(colon + 1)));
  return false;
}

void HeadParser::feed_status_line(std::string_view line) {
  const std::size_t code = std::min(line.find(' '), line.size() - 1) + 1;
  const std::uint64_t status = try_parse_number(line.substr(code, 3)).value_or(0);
  if (!line.starts_with("HTTP/") || status < 100 || status > 599) {
    refuse("it does not begin as HTTP does: " + printable(line, 60));
  }
  head_.status = static_cast<int>(status);
  head_.stream = !line.starts_with("HTTP/1");
  head_.reason = trim(line.substr(std::min(line.size(), code + 3)));
}

void HeadParser::feed_field(std::string_view name, std::string_view value) {
  if (name == "content-length") {
    const auto length = try_parse_number(value);
    if (!length) refuse("its Content-Length is not a number: " + printable(value, 60));
    if (head_.content_length && head_.content_length != length) {
      refuse(fmt::format("it says two lengths, {} and {}", *head_.content_length, *length));
    }
    head_.content_length = length;
  } else if (name == "transfer-encoding") {
    if (to_lower(value) != "chunked") refuse("it uses an unknown Transfer-Encoding: " + printable(value, 60));
    chunked_ = true;
  } else if (name == "content-encoding") {
    add_codings(value);
  } else if (name == "x-goog-stored-content-encoding") {
    head_.stored_encoding = names_coding(value) ? printable(value, 60) : "";
  } else if (name == "warning") {
    head_.transformed = head_.transformed || value.starts_with("214 ");
  } else if (name == "accept-ranges") {
    head_.accepts_ranges = to_lower(value) == "bytes";
  } else if (name == "content-range") {
    set_once(head_.content_range, name, value);
  } else if (name == "location") {
    set_once(head_.location, name, value);
  } else if (name == "etag") {
    set_once(head_.etag, name, value);
  } else if (name == "last-modified") {
    set_once(head_.last_modified, name, value);
  } else if (name == "content-type") {
    head_.content_type = printable(trim(to_lower(value.substr(0, value.find(';')))));
  } else if (name == "digest" || name == "repr-digest") {
    add_value(head_.digests, value);
  } else if (name == "content-digest") {
    add_value(head_.content_digests, value);
  } else if (name == "x-linked-etag") {
    head_.linked_etag = value;
  } else if (name == "retry-after") {
    head_.retry_after = value;
  } else if (name == "ratelimit") {
    add_value(head_.quota, value);
  } else if (name == "ratelimit-remaining" || name == "x-ratelimit-remaining") {
    head_.quota_remaining = value;
  } else if (name == "ratelimit-reset" || name == "x-ratelimit-reset") {
    head_.quota_reset = value;
  }
}

void HeadParser::add_codings(std::string_view list) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view word = trim(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (!names_coding(word)) continue;
    head_.content_encoding += (head_.content_encoding.empty() ? "" : ", ") + printable(word, 60);
  }
}

void HeadParser::set_once(std::string& field, std::string_view name, std::string_view value) {
  if (!field.empty() && field != value) refuse(fmt::format("it has two different {} headers", name));
  field = value;
}

void HeadParser::refuse(std::string_view why) const {
  throw Error(FailureKind::unavailable, fmt::format("cannot read {}: the response is refused: {}", source_, why),
              "the server or a proxy on the way breaks HTTP; use another mirror");
}

}  // namespace sabath
