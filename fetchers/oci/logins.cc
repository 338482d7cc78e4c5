#include "oci/logins.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/secret_file.h"

namespace sabath::oci {
namespace {

constexpr JsonLimits limits{1UL << 20, 8, 100'000};

bool is_base64(std::string_view text) {
  return !text.empty() && text.size() <= 16'384 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '+' || c == '/' || c == '=';
  });
}

// In one file's text; `source` is its name, for messages.
std::optional<Secret> try_parse_login(std::string_view text, const Place& place, const std::string& source) {
  const JsonValue document = parse_json(text, source, limits);
  JsonObject file(document, source, "a file of logins");
  auto logins = file.try_object("auths", "auths");
  if (!logins) return std::nullopt;
  std::string name = place.registry + "/" + place.repository;
  for (;;) {
    if (auto login = logins->try_object(name, name)) {
      const JsonValue* basic = login->find("auth");  // else a credential helper keeps it
      const std::string* kept = basic == nullptr ? nullptr : basic->get<std::string>();
      return kept != nullptr && is_base64(*kept) ? std::optional<Secret>(*kept) : std::nullopt;
    }
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    name.resize(slash);
  }
}

}  // namespace

std::optional<Secret> try_find_login(const RegistrySettings& settings, const Place& place) {
  for (const auto& file : settings.auth_files) {
    const auto text = try_read_text(file, limits.size_max);
    if (!text || !try_parse_login(*text, place, file.string())) continue;
    return try_parse_login(read_secret_file(file).reveal(), place, file.string());  // what it has is ours alone?
  }
  return std::nullopt;
}

std::string how_to_log_in(const Place& place) {
  return fmt::format(
      "log in: `podman login {}`, with an account that may read {} (docker's credential helpers are not asked)",
      place.registry, place.repository);
}

}  // namespace sabath::oci
