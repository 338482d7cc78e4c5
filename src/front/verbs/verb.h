// A verb of the library by its name: a request and a record as JSON, for callers that cannot call C++. A header of
// include/sabath declares the C++ function of the same verb; one file of this folder defines both.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "base/json_reader.h"
#include "fields/fields.h"
#include "fields/json_text.h"
#include "sabath/session.h"

namespace sabath {

// What people read of a verb that has no command of its own in src/front/cli; its options and its output come from the
// tables.
struct VerbText {
  std::string_view summary = {};   // one line, no full stop
  std::string_view examples = {};  // lines of "command    what it does"
  std::string_view details = {};   // paragraphs; may be empty
  std::string_view group = {};     // the word of its group in `sabath --help` (cli/groups.h): "store"
};

struct LibraryVerb {
  std::string_view name;  // that of the command line: "du", "manifest create"
  // Takes the keys that it knows out of the request; a key that is left over is refused. Throws Error.
  Json (*call)(Session& session, JsonObject& request, EventSink& events, std::stop_token stop);
  Fields request = {}, record = {};
  Fields other_record = {};  // of a verb with two: what `dry_run`, or another key, gives
  const std::type_info* request_type = nullptr;
  std::shared_ptr<void> (*make_request)() = nullptr;
  Json (*perform)(Session& session, const void* request, EventSink& events, std::stop_token stop) = nullptr;
  VerbText text = {};
};

template <typename Function>
struct VerbFunction;
template <typename Record_, typename Request_>
struct VerbFunction<Record_ (*)(Session&, const Request_&, EventSink&, std::stop_token)> {
  using Request = Request_;
  using Record = Record_;
};

template <typename Request>
std::shared_ptr<void> make_request() {
  return std::make_shared<Request>();
}

// A verb whose request and record are described (fields/fields.h), and whose C++ function has the usual form.
template <auto function>
consteval LibraryVerb described(std::string_view name, VerbText text = {}) {
  using Request = typename VerbFunction<decltype(function)>::Request;
  using Record = typename VerbFunction<decltype(function)>::Record;
  return {.name = name,
          .call =
              [](Session& session, JsonObject& object, EventSink& events, std::stop_token stop) {
                return record_json(function(session, request_in<Request>(object), events, std::move(stop)));
              },
          .request = Described<Request>::table,
          .record = Described<Record>::table,
          .request_type = &typeid(Request),
          .make_request = make_request<Request>,
          .perform =
              [](Session& session, const void* request, EventSink& events, std::stop_token stop) {
                return record_json(function(session, *static_cast<const Request*>(request), events, std::move(stop)));
              },
          .text = text};
}

// The same of a verb whose `call` is written by hand: it checks more, gives one of two records, or has another form.
template <typename Request, typename Record, typename Other = void>
consteval LibraryVerb described(std::string_view name, decltype(LibraryVerb::call) call) {
  LibraryVerb verb{.name = name,
                   .call = call,
                   .request = Described<Request>::table,
                   .record = Described<Record>::table,
                   .request_type = &typeid(Request),
                   .make_request = make_request<Request>};
  if constexpr (IsDescribed<Other>) verb.other_record = Described<Other>::table;
  return verb;
}

// In the order of their names.
[[nodiscard]] std::span<const LibraryVerb> library_verbs();
[[nodiscard]] Json description_of(const LibraryVerb& verb);  // its name, the fields of its request and record
[[nodiscard]] Json record_of_help(const std::string& name);  // that of the verb `help`: one described; "": all

}  // namespace sabath
