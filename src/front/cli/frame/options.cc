#include "cli/frame/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "fields/request.h"
#include "sabath/asset_kind.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {

void OptionSet::add(std::string names, std::string value, std::string help,
                    std::function<void(const std::string&)> set) {
  Option option;
  option.names = std::move(names);
  option.value = std::move(value);
  option.help = std::move(help);
  option.set = std::move(set);
  options_.push_back(std::move(option));
}

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  for (const KindName& kind : kind_names) words.emplace_back(kind.name);
  return words;
}

void OptionSet::flag(std::string names, bool& target, std::string help) {
  add(std::move(names), "", std::move(help), [&target](const std::string&) { target = true; });
}

void OptionSet::option(std::string names, std::string value, std::string& target, std::string help) {
  add(std::move(names), std::move(value), std::move(help), [&target](const std::string& text) { target = text; });
}

void OptionSet::option(std::string names, std::string value, std::optional<std::string>& target, std::string help) {
  add(std::move(names), std::move(value), std::move(help), [&target](const std::string& text) { target = text; });
}

void OptionSet::option(std::string names, std::string value, std::vector<std::string>& target, std::string help) {
  add(std::move(names), std::move(value), std::move(help),
      [&target](const std::string& text) { target.push_back(text); });
  options_.back().repeats = true;
}

void OptionSet::choice(std::string names, std::vector<std::string> choices, std::string& target, std::string help) {
  std::string value = fmt::format("{}", fmt::join(choices, "|"));
  std::string what = names;
  add(std::move(names), std::move(value), std::move(help),
      [&target, choices = std::move(choices), what = std::move(what)](const std::string& text) {
        check_word(text, choices, what);
        target = text;
      });
}

void OptionSet::count(std::string names, std::string value, std::uint64_t maximum, std::optional<std::uint64_t>& target,
                      std::string help) {
  std::string what = names;
  add(std::move(names), std::move(value), std::move(help),
      [&target, maximum, what = std::move(what)](const std::string& text) {
        target = parse_count(text, maximum, what);
      });
}

void OptionSet::size(std::string names, std::string value, std::optional<std::uint64_t>& target, std::string help) {
  std::string what = names;
  add(std::move(names), std::move(value), std::move(help),
      [&target, what = std::move(what)](const std::string& text) { target = parse_bytes(text, what); });
}

void OptionSet::argument(std::string name, std::string& target, std::string help) {
  add(std::move(name), "", std::move(help), [&target](const std::string& text) { target = text; });
  options_.back().required = true;
}

void OptionSet::optional_argument(std::string name, std::string& target, std::string help) {
  add(std::move(name), "", std::move(help), [&target](const std::string& text) { target = text; });
}

void OptionSet::rest(std::string name, std::vector<std::string>& target, std::string help) {
  add("-- " + std::move(name) + "...", "", std::move(help),
      [&target](const std::string& text) { target.push_back(text); });
  options_.back().rest = true;
}

void OptionSet::arguments(std::string name, std::vector<std::string>& target, bool required, std::string help) {
  add(std::move(name), "", std::move(help), [&target](const std::string& text) { target.push_back(text); });
  options_.back().required = required;
  options_.back().repeats = true;
}

}  // namespace sabath::cli
