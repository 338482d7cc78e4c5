#include "hf/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "base/percent.h"
#include "base/text.h"
#include "resolvers/directory.h"
#include "sabath/error.h"

namespace sabath::hf {
namespace {

constexpr JsonLimits page_limits = {64UL << 20, 16, 2'000'000};

std::string_view take_component(std::string_view& rest) {
  const std::string_view component = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(component.size() + 1, rest.size()));
  return component;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

bool is_hexadecimal(std::string_view text, std::size_t length) {
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// In the hub's own URLs models have no folder, others have that of their kind.
std::string folder(const std::string& kind) { return kind == "models" ? "" : kind + "/"; }

}  // namespace

std::string Place::revision_path() const {
  const std::string api = fmt::format("/api/{}/{}", kind, repository);
  return revision.empty() ? api : fmt::format("{}/revision/{}", api, percent_encode(revision));
}

std::string Place::tree_path(const std::string& commit, const std::string& directory) const {
  const std::string below = directory.empty() ? "" : "/" + percent_encode_path(directory);
  return fmt::format("/api/{}/{}/tree/{}{}", kind, repository, commit, below);
}

std::string Place::content_path() const {
  return fmt::format("/{}{}/resolve/{}/{}", folder(kind), repository,
                     percent_encode(revision.empty() ? "main" : revision), percent_encode_path(path));
}

Url Place::url_of(const std::string& commit, const std::string& file) const {
  return Url::parse(fmt::format("hf://{}{}@{}/{}", folder(kind), repository, commit, percent_encode_path(file)));
}

std::optional<Place> try_place_of(const Url& url) {
  std::string_view rest = url.text();  // a host is in lower case, an owner's name is as it is
  rest.remove_prefix(rest.find("://") == rest.npos ? rest.size() : rest.find("://") + 3);
  if (rest.find_first_of("?#") != rest.npos) return std::nullopt;
  Place place{.kind = "models", .repository = {}, .revision = {}, .path = {}};
  std::string_view owner = take_component(rest);
  if (owner == "datasets" || owner == "models" || owner == "spaces") {
    place.kind = owner;
    owner = take_component(rest);
  }
  std::string_view name = take_component(rest);
  if (const std::size_t at = name.find('@'); at != name.npos) {
    place.revision = percent_decode(name.substr(at + 1));
    if (place.revision.empty() || place.revision.find("..") != place.revision.npos) return std::nullopt;
    name = name.substr(0, at);
  }
  if (!is_name(owner) || !is_name(name)) return std::nullopt;
  place.repository = fmt::format("{}/{}", owner, name);
  place.path = percent_decode(rest);
  return place;
}

Place place_of(const Url& url) {
  auto place = try_place_of(url);
  if (place) return std::move(*place);
  throw Error(FailureKind::unavailable, fmt::format("{} names no repository of the hub", url.display()),
              "write hf://datasets/OWNER/NAME, hf://OWNER/NAME for a model, with @REVISION behind the name");
}

bool is_commit(std::string_view text) noexcept { return is_hexadecimal(text, 40); }

std::string parse_commit(std::string_view body, const std::string& source) {
  const JsonValue document = parse_json(body, source, page_limits);
  std::string commit = JsonObject(document, source, "a repository").text("sha");
  if (!is_commit(commit)) throw Error(FailureKind::invalid, fmt::format("{} says no commit", source));
  return commit;
}

std::vector<TreeFile> parse_tree(std::string_view body, const std::string& source) {
  const JsonValue document = parse_json(body, source, page_limits);
  const auto* array = document.get<JsonValue::Array>();
  if (array == nullptr) throw Error(FailureKind::invalid, fmt::format("{} is no list of files", source));
  std::vector<TreeFile> files;
  for (const JsonValue& value : *array) {
    JsonObject object(value, source, "a file");
    if (object.text("type") != "file") continue;
    TreeFile file{.path = name_in(object, "path"), .size_bytes = object.try_uint("size").value_or(0)};
    if (auto lfs = object.try_object("lfs", "\"lfs\"")) {
      file.sha256 = lfs->text("oid");
      if (!is_hexadecimal(file.sha256, 64)) lfs->fail("oid", "is no SHA-256");
      file.size_bytes = lfs->try_uint("size").value_or(file.size_bytes);
    } else if (const auto oid = object.try_text("oid");
               oid && git_blob.spells(*oid) && object.find("size") != nullptr) {
      file.git = *oid;
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace sabath::hf
