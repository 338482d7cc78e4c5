#include "hub/revision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::array<std::string_view, 3> kinds{"models", "datasets", "spaces"};
constexpr std::size_t name_size_max = 96;  // bytes, by the hub
constexpr JsonLimits note_limits{16UL * 1024, 2, 16};

// As the hub allows them, so that "--" parts the names of a folder.
bool is_hub_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto may_stand = [&](char c) { return is_letter(c) || c == '-' || c == '_' || c == '.'; };
  const auto may_end = [](char c) { return c != '-' && c != '.'; };
  return !text.empty() && text.size() <= name_size_max && std::ranges::all_of(text, may_stand) &&
         may_end(text.front()) && may_end(text.back()) && text.find("--") == text.npos && text.find("..") == text.npos;
}

bool may_be_directory(std::string_view path) { return path.empty() || RelativePath::try_parse(path).has_value(); }

}  // namespace

bool is_hub_commit(std::string_view text) noexcept {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_hub_repository(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return is_hub_name(text);
  return is_hub_name(text.substr(0, slash)) && is_hub_name(text.substr(slash + 1));
}

bool is_hub_kind(std::string_view text) noexcept { return std::ranges::find(kinds, text) != kinds.end(); }

bool is_hub_revision(std::string_view text) noexcept {
  constexpr std::size_t size_max = 255;
  return text.size() <= size_max && !text.starts_with('-') && RelativePath::try_parse(text).has_value();
}

bool is_sound(const HubRevision& hub) noexcept {
  return is_hub_kind(hub.kind) && is_hub_repository(hub.repository) && is_hub_commit(hub.commit) &&
         is_hub_revision(hub.revision) && may_be_directory(hub.top) && may_be_directory(hub.below);
}

std::string spelled(const HubRevision& hub) {
  return hub.kind == "models" ? hub.repository : fmt::format("{}/{}", hub.kind, hub.repository);
}

HubRevision parse_hub_repository(std::string_view text) {
  HubRevision hub;
  hub.kind = "models";
  std::string_view rest = text;
  const std::string_view first = rest.substr(0, rest.find('/'));
  if (is_hub_kind(first) && first.size() < rest.size()) {
    hub.kind = first;
    rest.remove_prefix(first.size() + 1);
  }
  hub.repository = rest;
  if (is_hub_repository(rest)) return hub;
  throw Error(FailureKind::usage, fmt::format("\"{}\" names no repository of the hub", printable(std::string(text))),
              "write OWNER/NAME for a model, datasets/OWNER/NAME for a dataset");
}

std::string hub_folder(const HubRevision& hub) {
  std::string folder = hub.kind + "--" + hub.repository;
  if (const std::size_t slash = folder.find('/'); slash != folder.npos) folder.replace(slash, 1, "--");
  return folder;
}

std::optional<HubRevision> try_parse_hub_folder(std::string_view name) {
  const std::size_t end = name.find("--");
  if (end == name.npos || name.find('/') != name.npos) return std::nullopt;  // a slash is written "--"
  HubRevision hub;
  hub.kind = name.substr(0, end);
  hub.repository = name.substr(end + 2);
  if (const std::size_t between = hub.repository.find("--"); between != std::string::npos)
    hub.repository.replace(between, 2, "/");
  if (!is_hub_kind(hub.kind) || !is_hub_repository(hub.repository)) return std::nullopt;
  return hub;
}

std::string encode_hub_note(const HubRevision& hub) {
  return nlohmann::ordered_json{{"hub", spelled(hub)}, {"commit", hub.commit}, {"revision", hub.revision},
                                {"top", hub.top},      {"below", hub.below},   {"whole", hub.whole},
                                {"open", hub.open}}
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::optional<HubRevision> try_decode_hub_note(std::string_view note) {
  if (!note.starts_with("{\"hub\":")) return std::nullopt;
  try {
    const JsonValue value = parse_json(note, "a note", note_limits);
    JsonObject object(value, "a note", "a repository");
    HubRevision hub = parse_hub_repository(object.text("hub"));
    const auto text = [&](const char* key) {
      const std::string* found = object.require(key).get<std::string>();
      return found != nullptr ? *found : std::string(1, '/');
    };
    hub.commit = text("commit");
    hub.revision = text("revision");
    hub.top = text("top");
    hub.below = text("below");
    hub.whole = object.flag("whole");
    hub.open = object.flag("open");
    return is_sound(hub) && encode_hub_note(hub) == note ? std::optional(std::move(hub)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sabath
