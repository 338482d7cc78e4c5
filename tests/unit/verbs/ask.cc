#include "ask.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "verbs/verb.h"

namespace sabath::test {

std::string ask(Session& session, std::string_view verb, const nlohmann::ordered_json& request) {
  const auto all = library_verbs();
  const auto found = std::ranges::find(all, verb, &LibraryVerb::name);
  if (found == all.end()) throw Error(FailureKind::usage, "there is no verb " + std::string(verb));
  const JsonValue value = parse_json(request.dump(), "request");
  JsonObject object(value, "request", "the request", FailureKind::usage);
  NoEvents unheard;
  return found->call(session, object, unheard, {}).dump();
}

Failure refusal(Session& session, std::string_view verb, const nlohmann::ordered_json& request) {
  try {
    ADD_FAILURE() << verb << " " << request << " gave " << ask(session, verb, request);
  } catch (const Error& error) {
    return error.failure();
  }
  return {};
}

}  // namespace sabath::test
