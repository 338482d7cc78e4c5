#include "environments/requirement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/split.h"
#include "base/text.h"
#include "environments/package_name.h"
#include "environments/wheel_name.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::size_t requirement_length_max = 16 * 1024, extras_max = 64;

bool is_requirement_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_' || c == '.';
}

RequirementReading refused(std::string why) { return {std::nullopt, std::move(why)}; }

// "[a,b]" at the front of `rest`; false: it is malformed.
bool take_extras(std::string_view& rest, std::vector<std::string>& extras) {
  if (!rest.starts_with('[')) return true;
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return false;
  std::set<std::string> names;
  if (const std::string_view inner = trim(rest.substr(1, end - 1)); !inner.empty()) {
    for (const std::string& one : parts_at(inner, ',')) {
      const auto name = normal_name(trim(one));
      if (!name || names.size() == extras_max) return false;
      names.insert(*name);
    }
  }
  extras.assign(names.begin(), names.end());
  rest = trim(rest.substr(end + 1));
  return true;
}

}  // namespace

std::string PythonRequirement::text() const {
  std::string all = name;
  if (!extras.empty()) all += fmt::format("[{}]", fmt::join(extras, ","));
  if (!url.empty()) return all + " @ " + url;
  return all + specifier_text;
}

std::string why_no_wheel(std::string_view text, const std::string& name) {
  if (text.starts_with("git+") || text.starts_with("hg+") || text.starts_with("svn+") || text.starts_with("bzr+"))
    return "it names a repository, whose code would run";
  const auto url = Url::try_parse(text);
  if (text.find_first_of("\\\"'`<>{}$") != std::string_view::npos) return "its URL has characters that no URL has";
  if (!url) return "its URL is malformed, or has a password in it";
  if (url->scheme() != "https" && url->scheme() != "http") return "its URL is of no web server";
  const std::string file = url->file_name();
  const auto wheel = try_wheel_name(file);
  if (!wheel) return fmt::format("{} is no wheel: its build would run code", printable(file));
  if (!name.empty() && wheel->name != name) return fmt::format("{} is no wheel of {}", printable(file), name);
  return {};
}

RequirementReading read_requirement(std::string_view text) {
  PythonRequirement requirement;
  std::string_view rest = trim(text);
  if (rest.size() > requirement_length_max) return refused("it is too long");
  if (std::ranges::any_of(rest, [](unsigned char c) { return (c < 0x20 && c != '\t') || c >= 0x7F; }))
    return refused("it has characters that no requirement has");
  const auto name_end = std::find_if_not(rest.begin(), rest.end(), is_requirement_name_byte);
  const auto name = normal_name(std::string_view(rest.begin(), name_end));
  if (!name) return refused("it does not begin with a package's name");
  requirement.name = *name;
  rest = trim(rest.substr(static_cast<std::size_t>(name_end - rest.begin())));
  if (!take_extras(rest, requirement.extras)) return refused("its extras are malformed");
  if (rest.starts_with('@')) {
    rest = trim(rest.substr(1));
    const std::size_t blank = std::min(rest.find_first_of(" \t"), rest.size());
    requirement.url = rest.substr(0, blank);
    rest = trim(rest.substr(blank));
    if (!rest.empty() && !rest.starts_with(';')) return refused("behind its URL is more than a marker");
    if (!rest.empty()) requirement.marker = trim(rest.substr(1));
    if (requirement.url.empty()) return refused("it has an @ without a URL");
    return {std::move(requirement), {}};
  }
  const std::size_t mark = rest.find(';');
  std::string_view specifier = trim(rest.substr(0, mark));
  if (mark != std::string_view::npos) requirement.marker = trim(rest.substr(mark + 1));
  if (specifier.starts_with('(') && specifier.ends_with(')'))
    specifier = trim(specifier.substr(1, specifier.size() - 2));
  const auto read = try_version_specifier(specifier);
  if (!read) return refused(fmt::format("{} is no version that it may have", printable(specifier, 60)));
  requirement.specifier = *read;
  for (const char c : specifier)
    if (c != ' ' && c != '\t') requirement.specifier_text += c;
  return {std::move(requirement), {}};
}

}  // namespace sabath
