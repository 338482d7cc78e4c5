#include "builtin/call.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::conversion {

const std::string& text_of(const BuiltinCall& call, std::string_view name) {
  const auto found = call.arguments.find(name);
  if (found == call.arguments.end()) throw Error(FailureKind::internal, fmt::format("a call has no {}", name));
  return found->second;
}

bool flag_of(const BuiltinCall& call, std::string_view name) { return text_of(call, name) == "true"; }

int number_of(const BuiltinCall& call, std::string_view name) {
  return static_cast<int>(try_whole_number(text_of(call, name)).value_or(0));
}

std::string stem_of(const BuiltinCall& call, std::string_view ending) {
  const std::string name = call.input.filename().string();
  if (!ending.empty() && name.size() > ending.size() && name.ends_with(ending))
    return name.substr(0, name.size() - ending.size());
  return call.input.stem().string();
}

std::string input_text(const BuiltinCall& call) { return printable(call.input.native(), 4096); }

void heed(const BuiltinCall& call) {
  if (call.stop.stop_requested())
    throw Error(FailureKind::interrupted, fmt::format("interrupted while converting {}", input_text(call)));
}

}  // namespace sabath::conversion
