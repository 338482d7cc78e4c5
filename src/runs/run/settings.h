// Hyper-parameters of a run: defaults from the recipe, then a file, then --set, then one run for each combination of a
// sweep's values. Pure; any thread. Throws Error{usage}, Error{invalid}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

using Config = std::map<std::string, std::string>;

struct Setting {
  std::string key;
  std::vector<std::string> values;  // more than one: a sweep
};

inline constexpr std::size_t sweep_runs_max = 1000;

// "lr=0.1", "lr=0.1,0.01"; a comma that belongs to the value is written "\,".
[[nodiscard]] Setting parse_setting(const std::string& text);

// Strings, numbers and booleans in a JSON object, or a YAML mapping if `origin` ends with .yaml or .yml; the members of
// an inner object are named "outer.inner".
[[nodiscard]] Config parse_config(std::string_view text, const std::string& origin);

// Every combination, the last setting varying fastest. A key that `known` does not have is refused with a suggestion.
struct Variant {
  Config config;
  std::string name;  // "lr=0.1,batch=4": what varies, fit for a directory's name; empty if nothing does
};
[[nodiscard]] std::vector<Variant> variants(const Config& base, const std::vector<Setting>& settings,
                                            const std::vector<std::string>& known);

}  // namespace sabath
