#include "apply/built_in.h"

#include <fmt/format.h>

namespace sabath {
namespace {

ArgumentType type_of(const BuiltinArgument& argument) {
  if (argument.type == BuiltinArgument::Type::flag) return ArgumentType::flag;
  const bool number = argument.type == BuiltinArgument::Type::number && !argument.fallback.empty();
  return number ? ArgumentType::integer : ArgumentType::text;
}

std::vector<std::string> parts_of(std::string_view choices) {
  std::vector<std::string> parts;
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    parts.emplace_back(choices.substr(0, bar));
    choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
  }
  return parts;
}

}  // namespace

SupportingScript script_of(const Builtin& builtin) {
  SupportingScript script;
  script.id = builtin.id;
  script.description = builtin.description;
  for (const BuiltinArgument& argument : builtin.arguments) {
    script.arguments.push_back({std::string(argument.name), type_of(argument), std::string(argument.fallback),
                                std::string(argument.help), parts_of(argument.choices)});
  }
  script.inputs = {std::string(builtin.inputs)};
  script.outputs = {"**"};
  return script;
}

std::map<std::string, std::string> tools_of(const Builtin& builtin) {
  return {{std::string(builtin.id), fmt::format("{}", builtin.version)}};
}

}  // namespace sabath
