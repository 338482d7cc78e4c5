#include "resolvers/index_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/json_reader.h"
#include "base/text.h"
#include "base/xml.h"
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

// The tags of a page, one after the other; comments are passed over.
class Tags {
 public:
  explicit Tags(std::string_view page) : rest_(page) {}

  // The inside of the next tag; false: there is no more.
  bool next(std::string_view& tag) {
    for (;;) {
      const std::size_t open = rest_.find('<');
      if (open == rest_.npos) return false;
      rest_.remove_prefix(open + 1);
      if (rest_.starts_with("!--")) {
        rest_.remove_prefix(std::min(rest_.find("-->"), rest_.size()));
        continue;
      }
      const std::size_t close = std::min(rest_.find('>'), rest_.size());
      tag = rest_.substr(0, close);
      rest_.remove_prefix(close);
      return true;
    }
  }

 private:
  std::string_view rest_;
};

// The href of an anchor; nullopt: another tag, or an anchor without one.
std::optional<std::string_view> href_of(std::string_view tag) {
  if (tag.size() < 2 || (tag[0] != 'a' && tag[0] != 'A') || std::string_view(" \t\r\n").find(tag[1]) == tag.npos)
    return std::nullopt;
  tag.remove_prefix(1);
  for (tag = trim(tag); !tag.empty(); tag = trim(tag)) {
    const std::size_t end = std::min(tag.find_first_of("= \t\r\n"), tag.size());
    const std::string name = to_lower(tag.substr(0, end));
    tag = trim(tag.substr(end));
    if (!tag.starts_with('=')) {
      if (end == 0) return std::nullopt;
      continue;
    }
    tag = trim(tag.substr(1));
    const bool quoted = tag.starts_with('"') || tag.starts_with('\'');
    const std::size_t from = quoted ? 1 : 0;
    const std::size_t to = std::min(quoted ? tag.find(tag[0], 1) : tag.find_first_of(" \t\r\n"), tag.size());
    if (name == "href") return tag.substr(from, to - std::min(from, to));
    tag.remove_prefix(std::min(to + from, tag.size()));
  }
  return std::nullopt;
}

// Character references of ASCII characters; anything else that begins with '&' stands as it is.
std::string decoded(std::string_view text) {
  constexpr std::pair<std::string_view, char> names[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.front() == '&' ? text.substr(0, 10).find(';') : text.npos;
    if (end == text.npos) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::string_view name = text.substr(1, end - 1);
    int code = 0;
    const auto* const known = std::ranges::find(names, name, &std::pair<std::string_view, char>::first);
    if (known != std::end(names)) code = known->second;
    if (name.starts_with('#')) {
      const int base = name.starts_with("#x") || name.starts_with("#X") ? 16 : 10;
      name.remove_prefix(base == 16 ? 2 : 1);
      const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), code, base);
      if (error != std::errc() || stop != name.data() + name.size() || code < 1 || code > 0x7F) code = 0;
    }
    if (code == 0) {
      result += text.front();
      text.remove_prefix(1);
    } else {
      result += static_cast<char>(code);
      text.remove_prefix(end + 1);
    }
  }
  return result;
}

// Servers write raw blanks and UTF-8 into links; a URL has them percent-encoded.
std::string as_reference(const std::string& href) {
  std::string text;
  for (const char c : href) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ' || byte >= 0x80) {
      text += fmt::format("%{:02X}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

std::optional<Url> try_resolve(const Url& directory, const std::string& href) {
  try {
    return directory.resolve(as_reference(href));
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
  Tags tags(page);
  for (std::string_view tag; tags.next(tag);) {
    const auto href = href_of(tag);
    if (!href) continue;
    const auto url = try_resolve(directory, decoded(trim(*href)));
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
      throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: \"{}\" does not stand in it",
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
