// A command whose request the library describes (verbs/fields.h): its options come from there.
//
//   constexpr Verb du_verb{.name = "du", ..., .declare = declare<usage, print>};
//
// where print(Context&, const UsageRecord&) writes the record for people, and `--json` prints it as it is.
#pragma once

#include <memory>
#include <typeinfo>

#include "cli/verb.h"
#include "sabath/session.h"
#include "verbs/verb.h"

namespace sabath::cli {

// An option or an argument for each field that is not hidden, in their order. `request` outlives the set.
void declare_fields(OptionSet& set, const std::type_info& request_type, void* request);

template <auto function, typename Request>
int perform(Context& context, Request request,
            void (*print)(Context&, const typename VerbFunction<decltype(function)>::Record&)) {
  if constexpr (requires { request.environment; }) request.environment = context.environment;
  Session session(context.configuration.session, context.ranks);
  const auto progress = context.make_progress();
  const auto record = function(session, request, *progress, context.stop);
  if (context.presentation.json) {
    context.out.begin_record(to_json(record));
  } else {
    print(context, record);
  }
  return record.exit;
}

template <auto function, auto print>
Action declare(OptionSet& set) {
  using Request = typename VerbFunction<decltype(function)>::Request;
  const auto request = std::make_shared<Request>();
  declare_fields(set, typeid(Request), request.get());
  return [request](Context& context) { return perform<function>(context, *request, print); };
}

}  // namespace sabath::cli
