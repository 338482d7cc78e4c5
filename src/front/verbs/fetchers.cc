#include "sabath/verbs/fetchers.h"

#include <nlohmann/json.hpp>
#include <set>

#include "verbs/verb.h"

namespace sabath {

FetchersRecord list_fetchers(Session& session, const FetchersRequest&, EventSink&, std::stop_token) {
  FetchersRecord record;
  std::set<std::string> seen;
  for (Scheme& scheme : make_fetchers(session.settings().fetchers)->schemes()) {
    const bool first = seen.insert(scheme.name).second;
    record.schemes.push_back({std::move(scheme), first});
  }
  return record;
}

template <>
struct Described<FetchersRequest> {
  using Of = FetchersRequest;
  static constexpr Fields table = {};
};

template <>
struct Described<SchemeEntry> {
  using Of = SchemeEntry;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("name", scheme.name, .help = "the scheme, as URLs begin"),
      SABATH_FIELD_AS("built", scheme.built, .help = "false: it is known, but not in this build"),
      SABATH_FIELD_AS("ranges", scheme.ranges, .help = "ranges of bytes can be asked for, where the server has them"),
      SABATH_FIELD_AS("resolver", scheme.resolver, .help = "it lists the files of a URL"),
      SABATH_FIELD_AS("command", scheme.command, .help = "an external program does it"),
      SABATH_FIELD_AS("by", scheme.by, .help = "the name of the program's description", .null_if_empty = true),
      SABATH_VALUE(
          "used", [](const Of& of) { return of.scheme.built && of.first; },
          .help = "it is the first that serves the scheme; others could be preferred"),
  };
};

template <>
struct Described<FetchersRecord> {
  using Of = FetchersRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(schemes, .help = "in the order in which they are tried"),
  };
};

std::string to_json(const FetchersRecord& record) {
  return text_of(element_json(record));
}  // as ever, without a schema

Json call_fetchers(Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
  return element_json(list_fetchers(session, request_in<FetchersRequest>(object), events, std::move(stop)));
}

extern constexpr LibraryVerb fetchers_call = described<FetchersRequest, FetchersRecord>("fetchers", call_fetchers);

}  // namespace sabath
