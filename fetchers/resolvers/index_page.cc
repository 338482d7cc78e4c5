#include "resolvers/index_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/json_reader.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/xml.h"
#include "resolvers/html_tags.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t page_size_max = 64UL << 20;

// An entry directly below the directory; nullopt: the directory itself, or something elsewhere.
std::optional<DirectoryEntry> child_at(const Url& directory, std::string_view path) {
  DirectoryEntry entry;
  entry.is_directory = path.ends_with('/');
  if (entry.is_directory) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos || slash + 1 == path.size()) return std::nullopt;
  if (percent_decode(path.substr(0, slash + 1)) != percent_decode(directory.path())) return std::nullopt;
  entry.name = percent_decode(path.substr(slash + 1));
  return entry;
}

std::optional<Url> try_resolve(const Url& directory, const std::string& href) {
  try {
    return directory.resolve(percent_encode_raw(href));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void refuse_unless_short(std::string_view page, const Url& directory) {
  if (page.size() > page_size_max)
    throw Error(FailureKind::invalid, fmt::format("the listing of {} is too long", directory.display()));
}

// nginx writes the bytes of a name unchanged, in any encoding. Bytes that are no UTF-8 are replaced by a character that
// no name may have, so that the entry alone is refused, if it is wanted.
std::string in_utf8(std::string_view page) {
  std::string text;
  while (!page.empty()) {
    const std::size_t length = utf8_sequence(page);
    text += length == 0 ? std::string_view("\\u001a") : page.substr(0, length);
    page.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

const XmlElement* good_properties(const XmlElement& response) {
  for (const XmlElement& child : response.children) {
    if (child.name == "propstat" && child.text_of("status").find(" 200") != std::string::npos)
      return child.find("prop");
  }
  return nullptr;
}

}  // namespace

std::vector<DirectoryEntry> parse_html_index(std::string_view page, const Url& directory) {
  refuse_unless_short(page, directory);
  std::vector<DirectoryEntry> entries;
  std::unordered_set<std::string> seen;
  HtmlTags tags(page);
  for (std::string_view tag; tags.next(tag);) {
    const auto href = attribute_of(tag, "a", "href");
    if (!href) continue;
    const auto url = try_resolve(directory, without_references(trim(*href)));
    if (!url || url->origin() != directory.origin() || !url->query().empty()) continue;
    auto entry = child_at(directory, url->path());
    if (entry && seen.insert(entry->name).second) entries.push_back(std::move(*entry));
  }
  return entries;
}

std::vector<DirectoryEntry> parse_json_index(std::string_view page, const Url& directory) {
  const std::string origin = directory.display();
  const JsonValue document = parse_json(in_utf8(page), origin, {page_size_max, 8, 5'000'000});
  const auto* array = document.get<JsonValue::Array>();
  if (array == nullptr)
    throw Error(FailureKind::unavailable, fmt::format("{} is JSON, but no list of what is in a directory", origin));
  std::vector<DirectoryEntry> entries;
  for (const JsonValue& value : *array) {
    JsonObject object(value, origin, "an entry");
    const std::string type = object.text("type");
    if (type != "file" && type != "directory") continue;  // what else there may be holds no data
    entries.push_back({name_in(object, "name"), type == "directory", object.try_uint("size")});
  }
  return entries;
}

std::vector<DirectoryEntry> parse_multistatus(std::string_view answer, const Url& directory) {
  const XmlElement root = parse_xml(answer, {page_size_max, 16, 3'000'000});
  if (root.name != "multistatus")
    throw Error(FailureKind::unavailable, fmt::format("{} does not answer as WebDAV does", directory.display()));
  std::vector<DirectoryEntry> entries;
  for (const XmlElement& response : root.children) {
    if (response.name != "response") continue;
    const std::string href(trim(response.text_of("href")));
    const auto url = try_resolve(directory, href);
    if (url && percent_decode(url->path()) == percent_decode(directory.path())) continue;
    auto entry = url ? child_at(directory, url->path()) : std::nullopt;
    if (!entry) {
      throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: \"{}\" is not in it",
                                                    directory.display(), printable_url(href)));
    }
    if (const XmlElement* properties = good_properties(response)) {
      const XmlElement* type = properties->find("resourcetype");
      entry->is_directory = type != nullptr && type->find("collection") != nullptr;
      const std::string length(trim(properties->text_of("getcontentlength")));
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), size);
      if (!length.empty() && error == std::errc() && end == length.data() + length.size()) entry->size_bytes = size;
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace sabath
