#include "recipe/file_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/percent.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t line_length_max = 8192;
constexpr std::size_t lines_max = 100'000'000;

// The place that an entry came from.
struct Place {
  const Url& list;
  std::uint32_t line = 0;

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(FailureKind::invalid, fmt::format("{}:{}: {}", printable(list.display(), 1000), line, why));
  }
};

std::string_view family(std::string_view scheme) { return scheme == "http" ? std::string_view("https") : scheme; }

// "scheme://"; many names have a colon alone.
bool has_scheme(std::string_view line) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto plain = [&](char c) { return letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; };
  const std::size_t end = line.find("://");
  if (end == std::string_view::npos || end == 0) return false;
  return letter(line[0]) && std::ranges::all_of(line.substr(0, end), plain);
}

// Runs `parse`; its errors name this place.
template <typename Parse>
auto at_place(const Place& place, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    place.refuse(error.failure().message);
  }
}

ListedFile parse_url_line(std::string_view line, const Place& place) {
  Url url = at_place(place, [&] { return Url::parse(line); });
  const std::string_view own = place.list.scheme();
  if (own != "file" && family(url.scheme()) != family(own)) {
    place.refuse(fmt::format("a list from {}: may not name a {}: URL", own, url.scheme()));
  }
  const std::string name = url.file_name();
  if (name.empty()) place.refuse("the URL ends in no file name");
  std::optional<RelativePath> path;
  if (name.find('/') == std::string::npos) path = RelativePath::try_parse(name);
  if (!path) place.refuse(fmt::format("the URL's file name \"{}\" is unsafe", printable(name)));
  return {std::move(*path), {std::move(url)}, std::nullopt, {}};
}

ListedFile parse_path_line(std::string_view line, const Place& place) {
  RelativePath path = at_place(place, [&] { return RelativePath::parse(line); });
  Url url = at_place(place, [&] { return place.list.resolve(percent_encode_path(path.text())); });
  return {std::move(path), {std::move(url)}, std::nullopt, {}};
}

// A name may stand once, and not as a directory of another one.
void refuse_collisions(const std::vector<ListedFile>& files, const std::vector<std::uint32_t>& lines, const Url& list) {
  std::unordered_map<std::string_view, std::size_t> names;
  names.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto [first, added] = names.emplace(files[i].path.text(), i);
    if (!added) {
      Place{list, lines[i]}.refuse(
          fmt::format("\"{}\" appears twice, first in line {}", files[i].path.text(), lines[first->second]));
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::string_view above = files[i].path.text();
    for (std::size_t slash = above.rfind('/'); slash != std::string_view::npos; slash = above.rfind('/')) {
      above = above.substr(0, slash);
      if (names.contains(above)) Place{list, lines[i]}.refuse(fmt::format("\"{}\" is already a file", above));
    }
  }
}

}  // namespace

std::vector<ListedFile> parse_file_list(std::string_view text, const Url& list, std::optional<std::uint64_t> limit) {
  std::vector<ListedFile> files;
  std::vector<std::uint32_t> lines;
  Place place{list};
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  while (!text.empty() && (!limit || files.size() < *limit)) {
    if (++place.line > lines_max) place.refuse(fmt::format("more than {} lines", lines_max));
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > line_length_max) place.refuse(fmt::format("a line longer than {} bytes", line_length_max));
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    files.push_back(has_scheme(line) ? parse_url_line(line, place) : parse_path_line(line, place));
    lines.push_back(place.line);
  }
  if (files.empty()) {
    throw Error(FailureKind::invalid, fmt::format("{}: the list names no file", printable(list.display(), 1000)));
  }
  refuse_collisions(files, lines, list);
  return files;
}

}  // namespace sabath
