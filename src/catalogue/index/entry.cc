#include "index/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "base/text.h"
#include "sabath/metadata.h"

namespace sabath {
namespace {

constexpr std::size_t text_bytes_max = 64 * 1024;  // of one recipe: what comes later is not searched
constexpr std::size_t strings = 7;

struct Head {  // of an entry; then the strings' lengths and bytes
  RecipeStamp stamp;
  std::uint64_t size_bytes = 0;
  std::uint32_t lengths[strings] = {};
  std::uint8_t kind = 0, access = 0, has_size = 0, unused = 0;
};
static_assert(sizeof(Head) == 80);

class Lines {
 public:
  void add(std::string_view key, std::string_view value) {
    if (value.empty() || text_.size() + key.size() + value.size() + 2 > text_bytes_max) return;
    if (!key.empty()) text_.append(key).append("=");
    text_.append(value).append("\n");
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string_view ending_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos ? "" : path.substr(dot + 1);
}

// The format that a file's ending stands for; else the ending itself.
std::string_view format_of(std::string_view ending) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> known{{{"h5", "hdf5"},
                                                                                {"hdf", "hdf5"},
                                                                                {"he5", "hdf5"},
                                                                                {"nc", "netcdf"},
                                                                                {"tfrecords", "tfrecord"},
                                                                                {"pt", "pytorch"},
                                                                                {"pth", "pytorch"},
                                                                                {"tgz", "tar"},
                                                                                {"parq", "parquet"}}};
  const auto found = std::ranges::find(known, ending, [](const auto& entry) { return entry.first; });
  return found == known.end() ? ending : found->second;
}

std::optional<std::uint64_t> size_of(const Recipe& recipe) {
  std::uint64_t sum = 0;
  for (const Fragment& fragment : recipe.fragments) {
    if (!fragment.size_bytes || sum + *fragment.size_bytes < sum) return std::nullopt;
    sum += *fragment.size_bytes;
  }
  return recipe.fragments.empty() ? std::nullopt : std::optional(sum);
}

void add_pairs(const std::map<std::string, std::string>& pairs, Lines& text, Lines& attributes) {
  for (const auto& [key, value] : pairs) {
    text.add(key, value);
    attributes.add("tag." + to_lower(key), to_lower(value));
  }
}

// What has a value of its own: found by it, and asked for by its key.
void add_value(std::string_view key, const std::string& value, Lines& text, Lines& attributes) {
  text.add("", value);
  attributes.add(key, to_lower(value));
}

void add_metadata(const Metadata& about, Lines& text, Lines& attributes) {
  add_value("id", about.id, text, attributes);
  add_value("doi", about.doi, text, attributes);
  for (const Party& party : about.creators) {
    add_value("author", party.shown(), text, attributes);
    attributes.add("author", to_lower(party.name));
    attributes.add("author", party.orcid);
  }
  add_pairs(about.tags, text, attributes);
  for (const std::string& keyword : about.keywords) text.add("", keyword);
  for (const auto* names : {&about.format.names, &about.format.media_types}) {
    for (const std::string& name : *names) add_value("format", name, text, attributes);
  }
  for (const Variable& variable : about.format.variables) {
    text.add("", variable.name);
    std::string shape;
    for (const auto& axis : variable.shape.value_or(std::vector<std::optional<std::uint64_t>>()))
      shape += (shape.empty() ? "" : ",") + (axis ? fmt::to_string(*axis) : "?");
    attributes.add("shape", shape);
  }
  add_value("format", about.model.format, text, attributes);
  text.add("", about.model.framework);
  add_pairs(about.model.hyper_parameters, text, attributes);
}

void add_fields(const Recipe& recipe, Lines& text, Lines& attributes) {
  for (const std::string* line : {&recipe.name, &recipe.title, &recipe.abstract_text, &recipe.description})
    text.add("", *line);
  add_pairs(recipe.metadata, text, attributes);
  add_metadata(metadata_of(recipe), text, attributes);
  attributes.add("licence", to_lower(recipe.licence));
  for (const Fragment& fragment : recipe.fragments) {
    const std::string path = to_lower(fragment.path ? fragment.path->text() : fragment.urls.front().file_name());
    attributes.add("format", format_of(ending_of(path)));
  }
}

}  // namespace

void append_entry(std::string& bytes, const IndexEntry& entry) {
  const std::string_view all[strings] = {entry.file, entry.name,  entry.version,   entry.title,
                                         entry.text, entry.lower, entry.attributes};
  Head head;
  head.stamp = entry.stamp;
  head.size_bytes = entry.size_bytes.value_or(0);
  for (std::size_t i = 0; i < strings; ++i) head.lengths[i] = static_cast<std::uint32_t>(all[i].size());
  head.kind = static_cast<std::uint8_t>(entry.kind);
  head.access = static_cast<std::uint8_t>(entry.access);
  head.has_size = entry.size_bytes ? 1 : 0;
  bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::string_view each : all) bytes.append(each);
}

std::string encode_entry(const Recipe& recipe, const std::string& file, const RecipeStamp& stamp) {
  Lines text, attributes;
  add_fields(recipe, text, attributes);
  const std::string lower = to_lower(text.text());
  IndexEntry entry;
  entry.stamp = stamp;
  entry.kind = recipe.kind;
  entry.access = recipe.access.kind;
  entry.size_bytes = size_of(recipe);
  entry.file = file;
  entry.name = recipe.name;
  entry.version = recipe.version;
  entry.title = recipe.title;
  entry.text = text.text();
  entry.lower = lower;
  entry.attributes = attributes.text();
  std::string bytes;
  append_entry(bytes, entry);
  return bytes;
}

std::optional<IndexEntry> decode_entry(std::string_view& bytes) {
  Head head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  IndexEntry entry;
  if (head.kind >= kind_names.size() || head.access > static_cast<std::uint8_t>(AccessKind::restricted) ||
      head.has_size > 1)
    return std::nullopt;
  std::string_view rest = bytes.substr(sizeof head);
  std::string_view* const all[strings] = {&entry.file, &entry.name,  &entry.version,   &entry.title,
                                          &entry.text, &entry.lower, &entry.attributes};
  for (std::size_t i = 0; i < strings; ++i) {
    if (head.lengths[i] > rest.size()) return std::nullopt;
    *all[i] = rest.substr(0, head.lengths[i]);
    rest.remove_prefix(head.lengths[i]);
  }
  entry.stamp = head.stamp;
  entry.kind = static_cast<AssetKind>(head.kind);
  entry.access = static_cast<AccessKind>(head.access);
  if (head.has_size == 1) entry.size_bytes = head.size_bytes;
  bytes = rest;
  return entry;
}

}  // namespace sabath
