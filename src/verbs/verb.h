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
#include <typeinfo>
#include <utility>

#include "base/json_reader.h"
#include "sabath/session.h"
#include "verbs/fields.h"

namespace sabath {

struct LibraryVerb {
  std::string_view name;  // that of the command line: "du", "manifest create"
  // Takes the keys that it knows out of the request; a key that is left over is refused. Throws Error.
  Json (*call)(Session& session, JsonObject& request, EventSink& events, std::stop_token stop);
  Fields request = {}, record = {};
  const std::type_info* request_type = nullptr;
};

template <typename Function>
struct VerbFunction;
template <typename Record_, typename Request_>
struct VerbFunction<Record_ (*)(Session&, const Request_&, EventSink&, std::stop_token)> {
  using Request = Request_;
  using Record = Record_;
};

// A verb whose request and record are described (verbs/fields.h), and whose C++ function has the usual form.
template <auto function>
consteval LibraryVerb described(std::string_view name) {
  using Request = typename VerbFunction<decltype(function)>::Request;
  using Record = typename VerbFunction<decltype(function)>::Record;
  const auto call = [](Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
    const Record record = function(session, request_in<Request>(object), events, std::move(stop));
    return write_record(Described<Record>::table, &record);
  };
  return {name, call, Described<Request>::table, Described<Record>::table, &typeid(Request)};
}

// In the order of their names.
[[nodiscard]] std::span<const LibraryVerb> library_verbs();
[[nodiscard]] Json description_of(const LibraryVerb& verb);  // its name, the fields of its request and record

[[nodiscard]] std::string text_of(const Json& record);   // on one line; what is no UTF-8 is replaced
[[nodiscard]] Json text_or_null(std::string_view text);  // "" is null
[[nodiscard]] Json value_or_null(const std::optional<std::uint64_t>& value);
// In seconds, of the end of other members' use in nanoseconds since 1970; null: none is known.
[[nodiscard]] Json until_or_null(std::int64_t until_ns);
[[nodiscard]] Json failure_json(const Failure& failure);              // {"kind","message","hint"}
[[nodiscard]] Json failure_record(const Failure& failure, int exit);  // {"schema":1,"error":{...},"exit":N}

}  // namespace sabath
