#include "fetch/git/submodule.h"

#include <fmt/format.h>

#include <algorithm>

#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {

std::map<std::string, Submodule> parse_submodules(std::string_view listed) {
  struct Section {
    std::string path;
    Submodule wish;
  };
  std::map<std::string, Section> sections;
  for (std::size_t begin = 0; begin < listed.size();) {  // "submodule.NAME.path\nVALUE\0"
    const std::string item(listed.substr(begin, listed.find('\0', begin) - begin));
    begin += item.size() + 1;
    const std::size_t line = std::min(item.find('\n'), item.size());
    const std::string key = item.substr(0, line), value = item.substr(std::min(line + 1, item.size()));
    Section& section = sections[key.substr(0, key.rfind('.'))];
    if (key.ends_with(".path")) section.path = value;
    if (key.ends_with(".url")) section.wish.url = value;
    if (key.ends_with(".update")) section.wish.update = value;
  }
  std::map<std::string, Submodule> by_path;
  for (auto& [name, section] : sections) by_path.try_emplace(std::move(section.path), std::move(section.wish));
  return by_path;
}

std::string submodule_origin(std::string origin, std::string url) {
  const bool web = origin.starts_with("https://") || origin.starts_with("http://");
  if (url.starts_with("./") || url.starts_with("../")) {
    while (origin.ends_with('/')) origin.pop_back();
    for (;;) {
      if (url.starts_with("./")) {
        url.erase(0, 2);
      } else if (url.starts_with("../")) {
        url.erase(0, 3);
        origin.resize(std::min(origin.rfind('/'), origin.size()));
      } else {
        return origin + "/" + url;
      }
    }
  }
  const std::size_t colon = url.find(':');
  if (!url.starts_with('/') && url.find("://") == url.npos && colon != url.npos && url.find('/') > colon)
    url = "ssh://" + url.substr(0, colon) + "/" + url.substr(colon + 1);
  if (!web || !url.starts_with("ssh://")) return url;
  const std::size_t at = url.find('@'), slash = url.find('/', 6);
  const std::size_t host = at < slash ? at + 1 : 6;
  return "https://" + url.substr(host);
}

void check_submodule(const std::string& origin, const std::string& url) {
  std::string without_user = url;
  if (const std::size_t at = url.find('@'); url.starts_with("ssh://") && at < url.find('/', 6))
    without_user.erase(6, at - 5);
  const auto named = Url::try_parse(without_user);
  constexpr const char* schemes[] = {"https", "http", "ssh", "git"};
  if (!local_path(origin).empty() && (url.starts_with('/') || (named && named->scheme() == "file"))) return;
  const bool known = named && std::ranges::find(schemes, named->scheme()) != std::end(schemes);
  if (!known) throw Error(FailureKind::invalid, fmt::format("\"{}\" is no place for a submodule", printable_url(url)));
}

std::filesystem::path local_path(const std::string& origin) {
  if (origin.starts_with('/')) return origin;
  const auto url = Url::try_parse(origin);
  return url && url->scheme() == "file" ? std::filesystem::path(percent_decode(url->path())) : std::filesystem::path();
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown_max = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), shown_max); ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i], 200);
  return text + (names.size() > shown_max ? ", ..." : "");
}

}  // namespace sabath
