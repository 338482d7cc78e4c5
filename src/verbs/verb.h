// A verb of the library by its name: a request and a record as JSON, for callers that cannot call C++. A header of
// include/sabath declares the C++ function of the same verb; one file of this folder defines both.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "sabath/session.h"

namespace sabath {

using Json = nlohmann::ordered_json;

struct LibraryVerb {
  std::string_view name;  // that of the command line: "du", "manifest create"
  // Takes the keys that it knows out of the request; a key that is left over is refused. Throws Error.
  Json (*call)(Session& session, JsonObject& request, EventSink& events, std::stop_token stop);
};

// In the order of their names.
[[nodiscard]] std::span<const LibraryVerb> library_verbs();

[[nodiscard]] std::string text_of(const Json& record);   // on one line; what is no UTF-8 is replaced
[[nodiscard]] Json text_or_null(std::string_view text);  // "" is null
[[nodiscard]] Json value_or_null(const std::optional<std::uint64_t>& value);
// In seconds, of the end of other members' use in nanoseconds since 1970; null: none is known.
[[nodiscard]] Json until_or_null(std::int64_t until_ns);
[[nodiscard]] Json failure_json(const Failure& failure);              // {"kind","message","hint"}
[[nodiscard]] Json failure_record(const Failure& failure, int exit);  // {"schema":1,"error":{...},"exit":N}

}  // namespace sabath
