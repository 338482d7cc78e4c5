// A decision as a file: docs/trust.md. It is read back strictly, because what it says lets code run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "trust/registry.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits limits{.size_max = 64 * 1024, .depth_max = 4, .values_max = 1000};

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

TrustScope take_scope(JsonObject& object) {
  const std::string scope = object.text("scope");
  if (scope == name_of(TrustScope::commit)) return TrustScope::commit;
  if (scope == name_of(TrustScope::origin)) return TrustScope::origin;
  object.fail("scope", "is neither \"commit\" nor \"origin\"");
}

}  // namespace

std::string_view name_of(TrustScope scope) { return scope == TrustScope::commit ? "commit" : "origin"; }

std::string id_of(const TrustEntry& entry) {
  std::vector<std::string> words{"sabath trust 1", std::string(name_of(entry.scope)), entry.recipe, entry.origin};
  if (entry.scope == TrustScope::commit) words.insert(words.end(), {entry.commit, entry.digest.hex()});
  return digest_of(words).hex();
}

std::string text_of(const TrustEntry& entry) {
  const bool exact = entry.scope == TrustScope::commit;
  const Json json = {{"schema", 1},
                     {"scope", name_of(entry.scope)},
                     {"name", entry.name},
                     {"recipe", or_null(entry.recipe)},
                     {"origin", or_null(entry.origin)},
                     {"commit", or_null(entry.commit)},
                     {"digest", exact ? Json(entry.digest.prefixed()) : Json(nullptr)},
                     {"commands", entry.commands},
                     {"since", entry.since}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

TrustEntry parse_trust_entry(std::string_view text, const std::string& file, const std::string& id) {
  const JsonValue document = parse_json(text, file, limits);
  JsonObject object(document, file, "a decision");
  const auto schema = object.try_uint("schema");
  if (schema != 1u) object.fail("schema", "must be 1", "a newer version of this program may have written it");
  TrustEntry entry;
  entry.id = id;
  entry.scope = take_scope(object);
  entry.name = object.text("name");
  entry.recipe = object.try_text("recipe").value_or("");
  entry.origin = object.try_text("origin").value_or("");
  entry.commit = object.try_text("commit").value_or("");
  if (const auto digest = object.try_text("digest")) {
    const auto parsed = Sha256::try_parse(*digest);
    if (!parsed) object.fail("digest", "is no SHA-256");
    entry.digest = *parsed;
  }
  entry.commands = object.texts("commands");
  entry.since = object.try_uint("since").value_or(0);
  object.finish();
  if (id_of(entry) != id)
    throw_at(file, document.line, "what it says is not what its name means", "remove it, and decide again");
  return entry;
}

}  // namespace sabath
