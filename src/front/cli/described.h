// A command whose request the library describes (fields/fields.h): its options come from there.
//
//   constexpr Verb du_verb{.name = "du", ..., .declare = declare<du, print>};
//
// where print(Context&, const UsageRecord&) writes the record for people, and `--json` prints it as it is. A verb that
// has no file here, but a VerbText, is a command all the same: print_record() writes its record.
#pragma once

#include <memory>
#include <typeinfo>

#include "cli/verb.h"
#include "sabath/session.h"
#include "verbs/verb.h"

namespace sabath::cli {

// An option or an argument for each field that is not hidden, in their order. `request` outlives the set. A command
// with more options than its request declares the fields, then its own.
void declare_fields(OptionSet& set, Fields fields, void* request);
[[nodiscard]] Fields request_fields(const std::type_info& request_type);
template <typename Request>
void declare_fields(OptionSet& set, Request& request) {
  declare_fields(set, request_fields(typeid(Request)), &request);
}

// The values under their keys, a list of objects as a table.
void print_record(Context& context, Fields fields, const Json& record);

template <auto function, typename Request>
int perform(Context& context, Request request,
            void (*print)(Context&, const typename VerbFunction<decltype(function)>::Record&)) {
  if constexpr (requires { request.environment; }) request.environment = context.environment;
  Session session(context.configuration.session, context.ranks);
  const auto record = function(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    print(context, record);
  }
  return record.exit;
}

template <auto function, auto print>
Action declare(OptionSet& set) {
  using Request = typename VerbFunction<decltype(function)>::Request;
  const auto request = std::make_shared<Request>();
  declare_fields(set, *request);
  return [request](Context& context) { return perform<function>(context, *request, print); };
}

}  // namespace sabath::cli
