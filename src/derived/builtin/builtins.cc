#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "builtin/builtin.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t value_bytes_max = 4096;

constexpr std::array<const Builtin*, 5> all{&gzip_builtin, &hdf5_blocks_builtin, &hdf5_to_npy_builtin,
                                            &hdf5_to_tfrecord_builtin, &npy_to_tfrecord_builtin};

bool is_one_of(std::string_view value, std::string_view choices) {
  for (;;) {
    const std::size_t bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

std::string expected(const BuiltinArgument& argument) {
  switch (argument.type) {
    case BuiltinArgument::Type::flag:
      return "true or false";
    case BuiltinArgument::Type::number:
      return argument.most == UINT64_MAX ? fmt::format("a number of at least {}", argument.least)
                                         : fmt::format("a number from {} to {}", argument.least, argument.most);
    case BuiltinArgument::Type::text:
      break;
  }
  if (argument.choices.empty()) return fmt::format("text of at most {} bytes", value_bytes_max);
  std::string text(argument.choices);
  for (std::size_t bar = 0; (bar = text.find('|')) != std::string::npos;) text.replace(bar, 1, " or ");
  return text;
}

bool fits(const BuiltinArgument& argument, std::string_view value) {
  if (argument.type == BuiltinArgument::Type::flag) return value == "true" || value == "false";
  if (argument.type == BuiltinArgument::Type::number) {
    const auto number = try_whole_number(value);
    return number && *number >= argument.least && *number <= argument.most;
  }
  return value.size() <= value_bytes_max && (argument.choices.empty() || is_one_of(value, argument.choices));
}

[[noreturn]] void refuse_unknown(const Builtin& builtin, std::string_view name) {
  std::vector<std::string> names;
  for (const BuiltinArgument& argument : builtin.arguments) names.emplace_back(argument.name);
  const auto near = nearest(name, names);
  throw Error(FailureKind::usage, fmt::format("{} has no argument {}", builtin.id, printable(name)),
              near ? fmt::format("did you mean {}?", *near) : fmt::format("it has {}", fmt::join(names, ", ")));
}

}  // namespace

std::span<const Builtin* const> builtins() { return all; }

const Builtin* find_builtin(std::string_view id) {
  const auto found = std::ranges::find(all, id, &Builtin::id);
  return found == all.end() ? nullptr : *found;
}

BuiltinArguments parse_builtin_arguments(const Builtin& builtin, const BuiltinArguments& given) {
  BuiltinArguments all_given;
  for (const BuiltinArgument& argument : builtin.arguments) all_given.emplace(argument.name, argument.fallback);
  for (const auto& [name, value] : given) {
    const auto known = std::ranges::find(builtin.arguments, name, &BuiltinArgument::name);
    if (known == builtin.arguments.end()) refuse_unknown(builtin, name);
    if (!fits(*known, value)) {
      throw Error(FailureKind::usage,
                  fmt::format("{}: {} is {}, and must be {}", builtin.id, name, printable(value), expected(*known)));
    }
    all_given[name] = value;
  }
  return all_given;
}

}  // namespace sabath
