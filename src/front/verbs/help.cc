// `help`: what the library takes and gives, for callers that make their own functions of it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

struct HelpRequest {
  std::string name;
};

struct HelpRecord {
  std::vector<Json> verbs;
  int exit = 0;
};

HelpRecord described_verbs(const std::string& name) {
  HelpRecord record;
  for (const LibraryVerb& verb : library_verbs()) {
    if (name.empty() || name == verb.name) record.verbs.push_back(description_of(verb));
  }
  if (record.verbs.empty())
    throw Error(FailureKind::usage, fmt::format("no verb is called '{}'", printable(name)),
                "without a name all are described");
  return record;
}

HelpRecord help(Session&, const HelpRequest& request, EventSink&, std::stop_token) {
  return described_verbs(request.name);
}

}  // namespace

template <>
struct Described<HelpRequest> {
  using Of = HelpRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the verb to describe; none: all", .argument = "VERB"),
  };
};

template <>
struct Described<HelpRecord> {
  using Of = HelpRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(verbs, .help = "an object for each: `name`, and the keys of `request`, `record` and `other_record`, "
                                  "each with `key`, `type`, `list`, `help` and more"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

Json record_of_help(const std::string& name) { return record_json(described_verbs(name)); }

extern constexpr LibraryVerb help_call = described<help>("help");

}  // namespace sabath
