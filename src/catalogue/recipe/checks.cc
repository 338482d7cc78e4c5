#include "recipe/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "recipe/fields.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using Bounded = BuiltinCheckName::Bound;

constexpr std::array<BuiltinCheckName, 8> builtins_known{{
    {"mpi.cuda_aware"},
    {"mpi.ranks_per_node", Bounded::count},
    {"ucx.gdrcopy"},
    {"horovod", Bounded::version},
    {"torch.cuda", Bounded::version},
    {"nccl", Bounded::version},
    {"disk.local", Bounded::size},
    {"memory", Bounded::size},
}};

constexpr std::size_t checks_max = 32, check_words_max = 256, expect_bytes_max = 1000, version_bytes_max = 32;
constexpr std::uint64_t seconds_max = 60, count_max = 1U << 20U;
constexpr std::string_view bound_relations[] = {">=", "<=", "==", ">", "<"};  // the longer ones first

std::string builtin_names() {
  std::string all;
  for (const BuiltinCheckName& each : builtins_known) all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
  return all;
}

const BuiltinCheckName* try_builtin(std::string_view name) {
  const auto found = std::ranges::find(builtins_known, name, &BuiltinCheckName::name);
  return found == builtins_known.end() ? nullptr : &*found;
}

bool is_version(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '+';
  };
  return !text.empty() && text.size() <= version_bytes_max && text[0] >= '0' && text[0] <= '9' &&
         std::ranges::all_of(text, allowed);
}

bool is_bound(Bounded kind, const std::string& text) {
  if (kind == Bounded::size) return parse_size(text).has_value();
  if (kind == Bounded::version) return is_version(text);
  const auto count = try_whole_number(text);
  return count && *count <= count_max;
}

RecipeCheck read_builtin(const JsonValue& value, std::string_view origin) {
  const std::string& text = checked_text(value, origin, "a check");
  const std::size_t end = std::min(text.find_first_of("<>="), text.size());
  RecipeCheck check;
  check.name = trim(std::string_view(text).substr(0, end));
  const BuiltinCheckName* builtin = try_builtin(check.name);
  if (builtin == nullptr) {
    throw_at(origin, value.line, fmt::format("\"{}\" is no check that is built in", printable(check.name)),
             fmt::format("these are: {}; a check of your own is {{\"name\": ..., \"argv\": [...]}}", builtin_names()));
  }
  if (end == text.size()) return check;
  const std::string_view rest = std::string_view(text).substr(end);
  for (const std::string_view relation : bound_relations) {
    if (!check.relation.empty() || !rest.starts_with(relation)) continue;
    check.relation = relation;
    check.bound = trim(rest.substr(relation.size()));
  }
  if (builtin->bound == Bounded::none)
    throw_at(origin, value.line, fmt::format("the check {} is compared with nothing", check.name),
             "leave the rest out");
  if (check.relation.empty() || !is_bound(builtin->bound, check.bound)) {
    throw_at(origin, value.line, fmt::format("the check \"{}\" has no bound that can be compared", printable(text)),
             fmt::format("write {}", builtin->bound == Bounded::size    ? check.name + ">=64GB"
                                     : builtin->bound == Bounded::count ? check.name + ">=4"
                                                                        : check.name + ">=2.18"));
  }
  return check;
}

void take_argv(JsonObject& object, RecipeCheck& check) {
  const JsonValue::Array* argv = object.try_array("argv");
  if (argv == nullptr) object.fail("argv", "must say what is started");
  if (argv->size() > check_words_max) object.fail("argv", fmt::format("has more than {} words", check_words_max));
  for (const JsonValue& word : *argv) {
    check_template(word, object.origin());
    check.argv.push_back(*word.get<std::string>());
  }
  if (check.argv.empty() || check.argv[0].empty()) object.fail("argv", "names no command");
}

RecipeCheck read_own(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a check");
  RecipeCheck check;
  check.name = take_name(object, "name");
  if (try_builtin(check.name) != nullptr)
    object.fail("name", fmt::format("\"{}\" is the name of a check that is built in", check.name));
  take_argv(object, check);
  check.expect = take_line(object, "expect");
  if (check.expect.size() > expect_bytes_max)
    object.fail("expect", fmt::format("has more than {} bytes", expect_bytes_max));
  check.parallel = object.flag("parallel");
  if (const auto seconds = object.try_uint("seconds")) {
    if (*seconds == 0 || *seconds > seconds_max) object.fail("seconds", fmt::format("must be 1 to {}", seconds_max));
    check.seconds = static_cast<unsigned>(*seconds);
  }
  object.finish();
  return check;
}

}  // namespace

std::span<const BuiltinCheckName> builtin_check_names() { return builtins_known; }

std::vector<RecipeCheck> take_checks(JsonObject& requirements) {
  std::vector<RecipeCheck> checks;
  const JsonValue::Array* all = requirements.try_array("checks");
  if (all == nullptr) return checks;
  if (all->size() > checks_max) requirements.fail("checks", fmt::format("has more than {} checks", checks_max));
  for (const JsonValue& value : *all) {
    const bool builtin = value.get<std::string>() != nullptr;
    RecipeCheck check = builtin ? read_builtin(value, requirements.origin()) : read_own(value, requirements.origin());
    if (std::ranges::find(checks, check.text(), &RecipeCheck::text) != checks.end()) {
      throw_at(requirements.origin(), value.line, fmt::format("the check \"{}\" is named twice", check.text()));
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

std::vector<Step> steps_of_checks(const Requirements& requirements) {
  std::vector<Step> steps;
  for (const RecipeCheck& check : requirements.checks) {
    if (!check.argv.empty()) steps.push_back({check.argv, false, check.parallel});
  }
  return steps;
}

}  // namespace sabath
