#include "recipe/croissant.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "base/percent.h"
#include "base/text.h"
#include "recipe/fields.h"
#include "recipe/metadata.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Object = JsonValue::Object;

constexpr std::size_t croissant_files_max = 100'000;

// A member under its short name or with the prefix of a vocabulary: documents differ in that.
const JsonValue* member(const JsonValue& value, std::string_view key) {
  const auto* object = value.get<Object>();
  if (object == nullptr) return nullptr;
  for (const std::string_view prefix : {"", "sc:", "cr:", "dct:", "schema:", "https://schema.org/"}) {
    for (const JsonMember& each : *object) {
      const bool named = each.key.size() == prefix.size() + key.size() && each.key.starts_with(prefix);
      if (named && each.key.ends_with(key) && !each.value.is_null()) return &each.value;
    }
  }
  return nullptr;
}

std::string text_at(const JsonValue& value, std::string_view key) {
  const JsonValue* found = member(value, key);
  const std::string* text = found == nullptr ? nullptr : found->get<std::string>();
  return text == nullptr ? "" : *text;
}

// One value or a list of them.
std::vector<const JsonValue*> each_of(const JsonValue* value) {
  std::vector<const JsonValue*> all;
  if (value == nullptr) return all;
  if (const auto* array = value->get<JsonValue::Array>()) {
    for (const JsonValue& one : *array) all.push_back(&one);
  } else {
    all.push_back(value);
  }
  return all;
}

std::vector<std::string> texts_at(const JsonValue& value, std::string_view key) {
  std::vector<std::string> texts;
  for (const JsonValue* each : each_of(member(value, key)))
    if (const auto* text = each->get<std::string>()) texts.push_back(*text);
  return texts;
}

bool has_type(const JsonValue& value, std::string_view name) {
  for (const std::string& type : texts_at(value, "@type")) {
    const std::size_t end = type.find_last_of(":/");
    if (type.substr(end == type.npos ? 0 : end + 1) == name) return true;
  }
  return false;
}

std::vector<std::string> standards_of(const JsonValue& document) {
  std::vector<std::string> all = texts_at(document, "conformsTo");
  if (const JsonValue* found = member(document, "conformsTo"))
    for (const JsonValue* each : each_of(found))
      if (const std::string id = text_at(*each, "@id"); !id.empty()) all.push_back(id);
  return all;
}

// Letters, digits and ._+- of a text that may hold anything; empty if it holds none of them.
std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const std::string_view one(&c, 1);
    const bool fits = is_name(name.empty() ? one : "a" + std::string(one));
    if (fits) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() == 120) break;
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

// Texts of people: without control characters, so that they are what a recipe may hold.
std::string clean_text(std::string text, bool lines) {
  std::erase_if(text, [&](char c) { return (c >= 0 && c < ' ' && !(lines && c == '\n')) || c == 0x7f; });
  return text;
}

std::string licence_of(const JsonValue& document) {
  constexpr std::pair<std::string_view, std::string_view> pages[] = {
      {"creativecommons.org/licenses/by/4.0", "CC-BY-4.0"},
      {"creativecommons.org/licenses/by-sa/4.0", "CC-BY-SA-4.0"},
      {"creativecommons.org/licenses/by-nc/4.0", "CC-BY-NC-4.0"},
      {"creativecommons.org/publicdomain/zero/1.0", "CC0-1.0"},
      {"opensource.org/licenses/MIT", "MIT"},
      {"opensource.org/license/mit", "MIT"},
      {"apache.org/licenses/LICENSE-2.0", "Apache-2.0"}};
  constexpr std::string_view known[] = {"MIT",     "Apache-2.0",   "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0",
                                        "CC0-1.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "GPL-3.0-only"};
  for (std::string text : texts_at(document, "license")) {
    for (const auto& [page, licence] : pages)
      if (text.find(page) != text.npos) return std::string(licence);
    if (const std::size_t at = text.find("spdx.org/licenses/"); at != text.npos) text = text.substr(at + 18);
    if (text.ends_with(".html")) text.resize(text.size() - 5);
    for (const std::string_view licence : known)
      if (to_lower(text) == to_lower(std::string(licence))) return std::string(licence);
    if (is_name(text)) return text;
  }
  return "";
}

std::vector<Party> creators_of(const JsonValue& document) {
  std::vector<Party> all;
  for (const JsonValue* each : each_of(member(document, "creator"))) {
    Party party;
    const std::string given = text_at(*each, "givenName"), family = text_at(*each, "familyName");
    const std::string* plain = each->get<std::string>();
    party.name = plain != nullptr                  ? *plain
                 : given.empty() || family.empty() ? text_at(*each, "name")
                                                   : fmt::format("{}, {}", family, given);
    party.name = clean_text(party.name, false);
    party.organization = has_type(*each, "Organization");
    const std::string id = text_at(*each, "@id");
    if (const std::size_t at = id.find("orcid.org/"); at != id.npos && is_orcid(id.substr(at + 10)))
      party.orcid = id.substr(at + 10);
    if (!party.name.empty() && all.size() < 1000) all.push_back(std::move(party));
  }
  return all;
}

class CroissantReader {
 public:
  CroissantReader(const JsonValue& document, std::string_view origin) : document_(document), origin_(origin) {}
  Recipe read();

 private:
  void read_head();
  void note_containers();
  void add_file(const JsonValue& object);
  [[nodiscard]] bool add_repository(const JsonValue& object, const std::string& id);
  [[nodiscard]] Url place(const std::string& text, std::size_t line, Fragment& fragment) const;
  void take_hash(const JsonValue& object, Fragment& fragment, const ChecksumAlgorithm& algorithm);
  void take_size(const JsonValue& object, Fragment& fragment);
  [[nodiscard]] std::string free_id(std::string id) const;

  const JsonValue& document_;
  std::string_view origin_;
  Recipe recipe_;
  Metadata data_;
  std::vector<std::size_t> lines_;
  std::set<std::string, std::less<>> containers_;  // ids of what others stand in
  std::map<std::string, std::string> patterns_;    // container -> what a FileSet takes of it
  std::string other_;                              // what could not be taken
};

void CroissantReader::read_head() {
  recipe_.origin = origin_;
  recipe_.name = as_name(text_at(document_, "name"));
  if (recipe_.name.empty())
    throw_at(origin_, document_.line, "the Croissant document has no \"name\" of which a recipe's could be made");
  if (const std::string version = text_at(document_, "version"); is_name(version)) recipe_.version = version;
  recipe_.title = clean_text(text_at(document_, "name"), false);
  recipe_.description = clean_text(text_at(document_, "description"), true);
  if (const auto url = Url::try_parse(text_at(document_, "url"))) recipe_.homepage = url->text();
  recipe_.licence = licence_of(document_);
  for (const std::string& text : texts_at(document_, "citeAs")) recipe_.citation.push_back(clean_text(text, true));
  data_.creators = creators_of(document_);
  if (const std::string date = text_at(document_, "datePublished").substr(0, 10); is_date(date)) data_.published = date;
  for (const std::string& word : texts_at(document_, "keywords"))
    if (data_.keywords.size() < 1000) data_.keywords.push_back(clean_text(word, false));
}

void CroissantReader::note_containers() {
  for (const JsonValue* object : each_of(member(document_, "distribution"))) {
    for (const JsonValue* container : each_of(member(*object, "containedIn"))) {
      const std::string* plain = container->get<std::string>();
      const std::string id = plain != nullptr ? *plain : text_at(*container, "@id");
      containers_.insert(id);
      if (const auto includes = texts_at(*object, "includes"); !includes.empty())
        patterns_.emplace(id, includes.front());
    }
  }
}

std::string CroissantReader::free_id(std::string id) const {
  if (id.empty()) id = "file";
  if (id.ends_with(".dir")) id += "_";
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(recipe_.fragments, [&](const Fragment& each) { return each.id == name; });
  };
  std::string free = id;
  for (std::size_t number = 2; taken(free); ++number) free = fmt::format("{}-{}", id.substr(0, 110), number);
  return free;
}

// A dataset of Hugging Face is asked for by its own scheme; of another repository nothing is known.
bool CroissantReader::add_repository(const JsonValue& object, const std::string& id) {
  if (!text_at(object, "encodingFormat").starts_with("git+")) return false;
  const std::string text = text_at(object, "contentUrl");
  constexpr std::string_view hub = "https://huggingface.co/datasets/";
  const std::size_t tree = text.find("/tree/");
  if (!text.starts_with(hub)) {
    other_ = "a git repository";
    return true;
  }
  Fragment fragment;
  fragment.id = free_id(as_name(id));
  fragment.type = FragmentType::file_list;
  const auto pattern = patterns_.find(id);
  fragment.urls.push_back(Url::parse(
      fmt::format("hf://datasets/{}{}/{}", text.substr(hub.size(), tree == text.npos ? text.npos : tree - hub.size()),
                  tree == text.npos ? "" : "@" + percent_encode(percent_decode(text.substr(tree + 6))),
                  pattern == patterns_.end() ? "" : pattern->second)));
  recipe_.fragments.push_back(std::move(fragment));
  lines_.push_back(object.line);
  return true;
}

Url CroissantReader::place(const std::string& text, std::size_t line, Fragment& fragment) const {
  const std::size_t colon = text.find(':');
  if (colon != text.npos && text.find('/') > colon) {  // absolute
    const Url url = Url::parse(text);
    if (url.scheme() == "file") throw_at(origin_, line, "a Croissant document may not name a file of this machine");
    return url;
  }
  std::string decoded = text.starts_with("./") ? text.substr(2) : text;
  if (decoded.find('%') != decoded.npos) decoded = percent_decode(decoded);
  const auto path = RelativePath::try_parse(decoded);
  if (!path)
    throw_at(origin_, line, fmt::format("\"{}\" is no path below the directory of the document", printable(text)));
  if (!fragment.path) fragment.path = path;
  const auto directory = std::filesystem::absolute(std::filesystem::path(origin_)).parent_path();
  return Url::parse("file://" + percent_encode_path((directory / path->text()).lexically_normal().native()));
}

void CroissantReader::take_hash(const JsonValue& object, Fragment& fragment, const ChecksumAlgorithm& algorithm) {
  const std::string hex = to_lower(text_at(object, algorithm.name));
  if (hex.empty()) return;
  if (algorithm.spells(hex)) {
    fragment.checksum.*algorithm.value = hex;
  } else {
    data_.unknown[fmt::format("fragments.{}.{}", fragment.id, algorithm.name)] =
        fmt::format("the document has \"{}\", which is no {}", printable(hex), algorithm.name);
  }
}

void CroissantReader::take_size(const JsonValue& object, Fragment& fragment) {
  const JsonValue* found = member(object, "contentSize");
  if (found == nullptr) return;
  if (const auto* number = found->get<std::uint64_t>()) {
    fragment.size_bytes = *number;
    return;
  }
  std::string_view text = found->get<std::string>() == nullptr ? "" : trim(*found->get<std::string>());
  const std::string whole(text);
  for (const std::string_view unit : {" B", "B"}) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    break;
  }
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) {
    fragment.size_bytes = bytes;
  } else {
    data_.unknown[fmt::format("fragments.{}.size", fragment.id)] =
        fmt::format("the document says \"{}\", which is no number of bytes", printable(whole));
  }
}

void CroissantReader::add_file(const JsonValue& object) {
  const std::string own = text_at(object, "@id"), id = own.empty() ? text_at(object, "name") : own;
  if (member(object, "containedIn") != nullptr) return;  // it comes with its container
  if (has_type(object, "FileSet")) {
    other_ = "a FileSet without a container";
    return;
  }
  if (add_repository(object, id)) return;
  Fragment fragment;
  fragment.id = free_id(as_name(id));
  if (const auto path = RelativePath::try_parse(text_at(object, "sabath:path"))) fragment.path = path;
  std::vector<std::string> urls = texts_at(object, "contentUrl");
  for (std::string& mirror : texts_at(object, "sabath:mirror")) urls.push_back(std::move(mirror));
  for (const std::string& url : urls) fragment.urls.push_back(place(url, object.line, fragment));
  if (fragment.urls.empty()) throw_at(origin_, object.line, "a FileObject has no \"contentUrl\"");
  if (containers_.contains(id)) {
    fragment.type = FragmentType::archive;
    fragment.path = RelativePath::parse(fragment.id);
  } else if (!fragment.path) {
    fragment.path = default_file_path(fragment);
    if (!fragment.path) fragment.path = RelativePath::parse(fragment.id);
  }
  for (const ChecksumAlgorithm& algorithm : checksum_algorithms) take_hash(object, fragment, algorithm);
  take_size(object, fragment);
  recipe_.fragments.push_back(std::move(fragment));
  lines_.push_back(object.line);
}

Recipe CroissantReader::read() {
  const std::vector<std::string> standards = standards_of(document_);
  const auto is_known = [](const std::string& each) {
    return each == "http://mlcommons.org/croissant/1.0" || each == "http://mlcommons.org/croissant/1.1";
  };
  if (std::ranges::none_of(standards, is_known))
    throw_at(origin_, document_.line, "the document does not conform to Croissant 1.0 or 1.1",
             "\"conformsTo\" must say http://mlcommons.org/croissant/1.0 or .../1.1");
  read_head();
  note_containers();
  const auto objects = each_of(member(document_, "distribution"));
  if (objects.size() > croissant_files_max)
    throw_at(origin_, document_.line, fmt::format("the document has more than {} files", croissant_files_max));
  for (const JsonValue* object : objects) {
    if (object->get<Object>() == nullptr) throw_at(origin_, object->line, "an entry of \"distribution\" is no object");
    add_file(*object);
  }
  if (recipe_.fragments.empty())
    throw_at(origin_, document_.line,
             other_.empty() ? "the Croissant document names no file to fetch"
                            : fmt::format("the Croissant document names {}, and no other file to fetch", other_));
  check_places(recipe_.fragments, lines_, origin_);
  recipe_.about = std::make_shared<const Metadata>(std::move(data_));
  return std::move(recipe_);
}

}  // namespace

bool is_croissant(const JsonValue& document) {
  if (member(document, "@context") == nullptr) return false;
  const auto speaks = [](const std::string& each) { return each.find("mlcommons.org/croissant") != each.npos; };
  return std::ranges::any_of(standards_of(document), speaks) || has_type(document, "Dataset");
}

Recipe read_croissant(const JsonValue& document, std::string_view origin) {
  try {
    return CroissantReader(document, origin).read();
  } catch (const Error& error) {
    if (error.failure().message.starts_with(origin)) throw;
    throw_at(origin, document.line, error.failure().message, error.failure().hint);  // of a URL
  }
}

}  // namespace sabath
