#include "http/links.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace sabath {
namespace {

constexpr std::size_t links_max = 100;

}  // namespace

bool Link::is(std::string_view relation) const {
  for (std::string_view rest = rel; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == relation) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

std::vector<Link> parse_links(std::string_view value) {
  std::vector<Link> links;
  while (links.size() < links_max) {
    const std::size_t open = value.find('<');
    const std::size_t close = value.find('>', std::min(open, value.size()));
    if (open == value.npos || close == value.npos) return links;
    Link link{
        .target = std::string(value.substr(open + 1, close - open - 1)), .rel = {}, .type = {}, .priority = 999'999};
    value.remove_prefix(close + 1);
    for (;;) {  // ;name="value" or ;name=value, up to a comma
      value = trim(value);
      if (!value.starts_with(';')) break;
      value = trim(value.substr(1));
      const std::size_t equals = std::min(value.find_first_of("=;,"), value.size());
      const std::string name = to_lower(trim(value.substr(0, equals)));
      value.remove_prefix(equals);
      std::string text;
      if (value.starts_with("=\"")) {
        const std::size_t end = std::min(value.find('"', 2), value.size());
        text = value.substr(2, end - 2);
        value.remove_prefix(std::min(end + 1, value.size()));
      } else if (value.starts_with('=')) {
        const std::size_t end = std::min(value.find_first_of(";,"), value.size());
        text = trim(value.substr(1, end - 1));
        value.remove_prefix(end);
      }
      if (name == "rel" && link.rel.empty()) link.rel = to_lower(text);
      if (name == "type") link.type = to_lower(text);
      if (name == "pri") std::from_chars(text.data(), text.data() + text.size(), link.priority);
    }
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace sabath
