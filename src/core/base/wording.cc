#include "base/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

namespace sabath {
namespace {

std::string as_it_is(std::string_view name) { return std::string(name); }
std::string record_of(std::string_view verb) { return fmt::format("the record that `{}` gave", verb); }

constinit std::atomic<const Wording*> in_use = &wording_of_hosts;

}  // namespace

constinit const Wording wording_of_hosts{"host", true, as_it_is, as_it_is, as_it_is, record_of};

void use_wording(const Wording& wording) noexcept { in_use = &wording; }

const Wording& wording_in_use() noexcept { return *in_use; }

std::string option_text(OptionName option) {
  const std::string name = option_name(option);
  return wording_in_use().quotes ? '"' + name + '"' : name;
}

std::string option_name(OptionName option) { return wording_in_use().option(option.name); }

std::string verb_text(VerbName verb) { return wording_in_use().verb(verb.name); }

std::string verb_by_ranks_text(VerbName verb) { return wording_in_use().by_ranks(verb.name); }

std::string record_text(VerbName verb) { return wording_in_use().record(verb.name); }

std::string_view renamed_verb(std::string_view former) noexcept {
  static constexpr std::pair<std::string_view, std::string_view> renamed[] = {{"pin", "keep"}, {"unpin", "unkeep"}};
  const auto found = std::ranges::find(renamed, former, &std::pair<std::string_view, std::string_view>::first);
  return found == std::end(renamed) ? std::string_view() : found->second;
}

}  // namespace sabath
