#include "resolvers/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/glob.h"
#include "base/json_reader.h"
#include "base/percent.h"
#include "base/query.h"
#include "base/text.h"
#include "resolvers/directory.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr JsonLimits record_limits = {64UL << 20, 32, 2'000'000};

[[noreturn]] void refuse(const Url& source, const std::string& why) {
  throw Error(FailureKind::invalid, fmt::format("the record {} is refused: {}", source.display(), why));
}

RelativePath checked_path(const std::string& name, const Url& source) {
  auto path = RelativePath::try_parse(name);
  if (!path) refuse(source, fmt::format("no file may be called \"{}\"", printable(name)));
  return std::move(*path);
}

// Asked before anything else is looked at: what it leaves out may have any name, and be anything.
bool left_out(std::string_view pattern, const std::string& name) {
  return !pattern.empty() && !glob_matches(pattern, name);
}

Url checked_url(const std::string& text, const Url& source) {
  auto url = Url::try_parse(text);
  if (!url || (url->scheme() != "https" && url->scheme() != "http"))
    refuse(source, fmt::format("a file cannot be at \"{}\"", printable_url(text)));
  return std::move(*url);
}

// "md5", "MD5", "SHA-512" and the hexadecimal digits.
void take_checksum(ListedFile& file, const std::string& algorithm, const std::string& digits, const Url& source) {
  const ChecksumAlgorithm* known = find_checksum_algorithm(to_lower(algorithm));
  const std::string hex = to_lower(digits);
  if (known == nullptr) {
    file.unchecked = algorithm;
  } else if (!known->spells(hex)) {
    refuse(source, fmt::format("\"{}\" is no {}", printable(digits), known->name));
  } else {
    file.checksum.*known->value = hex;
  }
}

void add(Listing& listing, ListedFile file, const Url& source) {
  if (listing.files.size() >= listed_files_max) refuse(source, fmt::format("more than {} files", listed_files_max));
  listing.files.push_back(std::move(file));
}

// A value that may be a number or its digits: repositories differ.
std::string text_or_number(JsonObject& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) return {};
  if (const auto* number = value->get<std::uint64_t>()) return std::to_string(*number);
  const auto* text = value->get<std::string>();
  return text == nullptr ? std::string() : *text;
}

bool flag(JsonObject& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  const bool* set = value == nullptr ? nullptr : value->get<bool>();
  return set != nullptr && *set;
}

// The value of one parameter of a query, decoded.
std::string parameter(const Url& url, const std::string& name) {
  std::string_view rest = url.query();
  while (const auto one = next_parameter(rest))
    if (one->name == name && one->value) return percent_decode(*one->value);
  return {};
}

// The digits behind the last of these words in a path: /records/123/files -> 123.
std::string number_after(const std::string& path, std::string_view word) {
  const std::size_t at = path.rfind(word);
  if (at == path.npos) return {};
  const std::string rest = path.substr(at + word.size());
  return rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
}

}  // namespace

Listing parse_zenodo_record(std::string_view body, const Url& source, std::string_view pattern) {
  const std::string origin = source.display();
  const JsonValue document = parse_json(body, origin, record_limits);
  JsonObject record(document, origin, "a record");
  Listing listing;
  listing.version = text_or_number(record, "doi");
  if (listing.version.empty()) listing.version = text_or_number(record, "id");
  const JsonValue::Array* files = record.try_array("files");
  if (files == nullptr || files->empty()) {
    throw Error(FailureKind::access, fmt::format("{} shows no files", origin),
                "they may be restricted or under embargo: see the record's page");
  }
  for (const JsonValue& value : *files) {
    JsonObject file(value, origin, "a file");
    const std::string name = name_in(file, "key");
    if (left_out(pattern, name)) continue;
    auto links = file.try_object("links", "\"links\"");
    if (!links) file.fail("links", "is missing");
    const std::string sum = file.try_text("checksum").value_or("");
    const std::size_t colon = std::min(sum.find(':'), sum.size());
    ListedFile listed{
        checked_path(name, source), {checked_url(links->text("self"), source)}, file.try_uint("size"), {}};
    if (!sum.empty()) take_checksum(listed, sum.substr(0, colon), sum.substr(std::min(colon + 1, sum.size())), source);
    add(listing, std::move(listed), source);
  }
  return listing;
}

Listing parse_figshare_article(std::string_view body, const Url& source, std::string_view pattern) {
  const std::string origin = source.display();
  const JsonValue document = parse_json(body, origin, record_limits);
  JsonObject article(document, origin, "an article");
  Listing listing;
  listing.version = text_or_number(article, "doi");
  const JsonValue::Array* files = article.try_array("files");
  if (files == nullptr || files->empty()) {
    throw Error(FailureKind::access, fmt::format("{} shows no files", origin), "see the article's page");
  }
  for (const JsonValue& value : *files) {
    JsonObject file(value, origin, "a file");
    if (flag(file, "is_link_only")) continue;  // a link to some page
    const std::string name = name_in(file, "name");
    if (left_out(pattern, name)) continue;
    const std::string sum = file.try_text("computed_md5").value_or(file.try_text("supplied_md5").value_or(""));
    ListedFile listed{
        checked_path(name, source), {checked_url(file.text("download_url"), source)}, file.try_uint("size"), {}};
    if (!sum.empty()) take_checksum(listed, "md5", sum, source);
    add(listing, std::move(listed), source);
  }
  return listing;
}

Listing parse_dataverse_version(std::string_view body, const Url& source, std::string_view pattern) {
  const std::string origin = source.display();
  const JsonValue document = parse_json(body, origin, record_limits);
  JsonObject answer(document, origin, "an answer");
  auto version = answer.try_object("data", "\"data\"");
  if (!version) answer.fail("data", "is missing");
  Listing listing;
  listing.version =
      fmt::format("{} {}.{}", version->try_text("datasetPersistentId").value_or(""),
                  text_or_number(*version, "versionNumber"), text_or_number(*version, "versionMinorNumber"));
  const JsonValue::Array* files = version->try_array("files");
  if (files == nullptr) version->fail("files", "is missing");
  for (const JsonValue& value : *files) {
    JsonObject entry(value, origin, "a file");
    auto file = entry.try_object("dataFile", "\"dataFile\"");
    if (!file) entry.fail("dataFile", "is missing");
    // Tables are kept in a form of the archive's own. The one that was given to it is asked for; its checksum is not
    // said.
    const auto original = file->try_text("originalFileFormat");
    const std::string directory = entry.find("directoryLabel") == nullptr ? "" : name_in(entry, "directoryLabel");
    std::string name = original && file->find("originalFileName") != nullptr ? name_in(*file, "originalFileName")
                                                                             : name_in(entry, "label");
    if (!directory.empty()) name = directory + "/" + name;
    if (left_out(pattern, name)) continue;
    if (flag(entry, "restricted")) {
      throw Error(FailureKind::access,
                  fmt::format("{}: \"{}\" is restricted", origin, printable(file->text("filename"))),
                  "ask for access on the dataset's page");
    }
    const std::string id = text_or_number(*file, "id");
    if (id.empty() || id.find_first_not_of("0123456789") != id.npos) file->fail("id", "is no number");
    const std::string url =
        fmt::format("{}/api/access/datafile/{}{}", source.origin(), id, original ? "?format=original" : "");
    ListedFile listed{checked_path(name, source),
                      {checked_url(url, source)},
                      original ? file->try_uint("originalFileSize") : file->try_uint("filesize"),
                      {}};
    if (auto sum = file->try_object("checksum", "\"checksum\""); sum && !original)
      take_checksum(listed, sum->text("type"), sum->text("value"), source);
    add(listing, std::move(listed), source);
  }
  return listing;
}

Url parse_datacite_url(std::string_view body, const std::string& source) {
  const JsonValue document = parse_json(body, source, record_limits);
  const std::string text = JsonObject(document, source, "a DOI's description").text("url");
  auto url = Url::try_parse(text);
  if (!url || (url->scheme() != "https" && url->scheme() != "http"))
    throw Error(FailureKind::invalid,
                fmt::format("{} leads to \"{}\", which is no web page", source, printable_url(text)));
  return std::move(*url);
}

RecordPlace record_place(const Url& page, const std::string& doi) {
  const std::string& path = page.path();
  std::string record = number_after(path, "/records/");
  if (record.empty()) record = number_after(path, "/record/");
  if (!record.empty())
    return {RecordPlace::Kind::zenodo,
            Url::parse(fmt::format("{}/api/records/{}", page.origin(), record)).named_by(page.namer())};
  if (page.host() == "figshare.com" || page.host().ends_with(".figshare.com")) {
    // .../articles/dataset/Some_title/123/2 or .../articles/123
    std::vector<std::string> numbers;
    for (std::string_view rest = path; !rest.empty();) {
      rest.remove_prefix(1);
      const std::string component(rest.substr(0, rest.find('/')));
      rest.remove_prefix(component.size());
      if (component.empty() || component.find_first_not_of("0123456789") != component.npos) {
        numbers.clear();
      } else {
        numbers.push_back(component);
      }
      if (!rest.empty() && rest.front() != '/') break;
    }
    if (!numbers.empty()) {
      const std::string version = numbers.size() > 1 ? "/versions/" + numbers[1] : "";
      return {RecordPlace::Kind::figshare,
              Url::parse(fmt::format("https://api.figshare.com/v2/articles/{}{}", numbers[0], version))};
    }
  }
  std::string id = parameter(page, "persistentId");
  if (!id.empty() || path.ends_with("/citation") || path.ends_with("/dataset.xhtml")) {
    if (id.empty()) id = "doi:" + doi;
    return {RecordPlace::Kind::dataverse,
            Url::parse(fmt::format("{}/api/datasets/:persistentId/versions/:latest-published?persistentId={}",
                                   page.origin(), percent_encode(id)))
                .named_by(page.namer())};
  }
  throw Error(FailureKind::unavailable,
              fmt::format("{} belongs to a repository whose files cannot be listed here", page.display()),
              "Zenodo and other InvenioRDM, figshare and Dataverse can be; else name the files by their URLs");
}

}  // namespace sabath
