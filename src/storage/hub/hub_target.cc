#include "hub/hub_target.h"

#include <algorithm>

#include "hub/revision.h"
#include "sabath/path.h"

namespace sabath {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The text up to the next '/', which goes, too.
std::string_view take_component(std::string_view& rest) {
  const std::string_view component = rest.substr(0, rest.find('/'));
  rest.remove_prefix(std::min(component.size() + 1, rest.size()));
  return component;
}

// "OWNER/NAME/WORD/..." or "NAME/WORD/...": what stands before the word. Empty: neither.
std::string take_repository(std::string_view& rest, std::string_view word) {
  std::string_view after = rest;
  std::string name(take_component(after));
  if (!after.starts_with(word)) name += "/" + std::string(take_component(after));
  const bool ends = word.empty() ? after.empty() : after.starts_with(word);
  if (!ends || !is_hub_repository(name)) return "";
  after.remove_prefix(word.size());
  rest = after;
  return name;
}

bool take_revision(std::string_view& rest, std::string& revision) {
  auto decoded = try_decode_percent(take_component(rest));
  if (!decoded || !is_hub_revision(*decoded)) return false;
  revision = std::move(*decoded);
  return true;
}

bool take_path(std::string_view rest, std::string& path) {
  auto decoded = try_decode_percent(rest);
  if (!decoded || !RelativePath::try_parse(*decoded)) return false;
  path = std::move(*decoded);
  return true;
}

std::optional<HubTarget> try_parse_api(std::string_view rest) {
  HubTarget target;
  target.kind = take_component(rest);
  if (!is_hub_kind(target.kind)) return std::nullopt;
  if (target.repository = take_repository(rest, "tree/"); !target.repository.empty()) {
    target.what = HubTarget::What::tree;
    if (!take_revision(rest, target.revision)) return std::nullopt;
    if (!rest.empty() && !take_path(rest, target.path)) return std::nullopt;
    return target;
  }
  if (target.repository = take_repository(rest, "revision/"); !target.repository.empty()) {
    if (!take_revision(rest, target.revision) || !rest.empty()) return std::nullopt;
    return target;
  }
  target.repository = rest;
  target.revision = "main";
  return is_hub_repository(rest) ? std::optional(std::move(target)) : std::nullopt;
}

}  // namespace

std::optional<std::string> try_decode_percent(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? digit(text[i + 1]) : -1, low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::optional<HubTarget> try_parse_hub_target(std::string_view path) {
  if (path.starts_with("/api/")) return try_parse_api(path.substr(5));
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  HubTarget target;
  target.what = HubTarget::What::content;
  target.kind = "models";
  for (const std::string_view kind : {"datasets", "spaces"}) {
    if (!path.starts_with(kind) || !path.substr(kind.size()).starts_with('/')) continue;
    std::string_view rest = path.substr(kind.size() + 1);
    if (take_repository(rest, "resolve/").empty()) continue;
    target.kind = kind;
    path.remove_prefix(kind.size() + 1);
    break;
  }
  target.repository = take_repository(path, "resolve/");
  if (target.repository.empty() || !take_revision(path, target.revision) || !take_path(path, target.path))
    return std::nullopt;
  return target;
}

}  // namespace sabath
