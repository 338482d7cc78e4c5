#include "report/roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text.h"
#include "metrics/words.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool has_any(const std::string& name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

[[noreturn]] void throw_unknown(const std::string& name, const std::vector<std::string>& names) {
  const auto like = nearest(name, names);
  throw Error(FailureKind::not_found, fmt::format("no run has a metric '{}'", printable(name)),
              like ? fmt::format("did you mean '{}'?", printable(*like))
                   : "there are: " + printable(fmt::format("{}", fmt::join(names, ", ")), 1000));
}

// "loss" of "val_loss", "train_loss", "Validation/loss".
std::string without_split(std::string_view text) {
  std::string name = to_lower(text);
  for (const std::string_view split : {"validation", "training", "train", "valid", "val", "eval", "test"}) {
    if (!name.starts_with(split) || name.size() == split.size() || is_letter(name[split.size()])) continue;
    return name.substr(split.size() + 1);
  }
  return name;
}

// The shortest names are the totals: "loss" before "conv2d_20_loss". The first loss is followed by the first error, and
// each of them is a validation with its training, then what else there is of them.
void rank(std::vector<std::string>& names) {
  std::map<Role, std::vector<std::string>> totals;  // without their splits, the shortest first
  for (const std::string& name : names) totals[role_of(name)].push_back(without_split(name));
  for (auto& [role, of_role] : totals) {
    std::ranges::stable_sort(of_role, {}, &std::string::size);
    std::vector<std::string> once;
    for (std::string& name : of_role) {
      if (std::ranges::find(once, name) == once.end()) once.push_back(std::move(name));
    }
    of_role = std::move(once);
  }
  std::map<std::string, int> validations;
  std::vector<std::pair<std::tuple<std::ptrdiff_t, Role, int>, std::string>> all;
  for (const std::string& name : names) {
    const auto& of_role = totals[role_of(name)];
    const std::string total = without_split(name);
    const int place = !is_validation(name) ? 1 : validations[total]++ == 0 ? 0 : 2;
    all.push_back({{std::ranges::find(of_role, total) - of_role.begin(), role_of(name), place}, name});
  }
  std::ranges::stable_sort(all, {}, &decltype(all)::value_type::first);
  std::ranges::transform(all, names.begin(), &decltype(all)::value_type::second);
}

}  // namespace

bool is_validation(std::string_view name) { return has_any(to_lower(name), {"val", "eval", "test"}); }

Role role_of(std::string_view text) {
  const std::string name = to_lower(text);
  if (name.ends_with("time") || has_any(name, {"latency", "duration", "elapsed", "seconds"})) return Role::time;
  if (has_any(name, {"loss"})) return Role::loss;
  if (has_any(name, {"error", "mae", "mse", "mape", "_err", "perplexity"})) return Role::error;
  if (has_any(name, {"acc", "f1", "iou", "auc", "r2", "precision", "recall", "score"})) return Role::score;
  return Role::other;
}

std::vector<std::string> metric_names(std::span<const Run> runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    for (const Series& series : run.series) {
      if (std::find(names.begin(), names.end(), series.name) == names.end()) names.push_back(series.name);
    }
  }
  return names;
}

Shown choose_shown(std::span<const Run> runs, const std::vector<std::string>& wanted, std::size_t most) {
  const std::vector<std::string> names = metric_names(runs);
  Shown shown;
  for (const char* const name : {"epoch_time", "time"}) {
    if (shown.right.empty() && std::find(names.begin(), names.end(), name) != names.end()) shown.right = name;
  }
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end()) throw_unknown(name, names);
    shown.left.push_back(name);
  }
  shown.asked = !wanted.empty();
  if (shown.asked) return shown;
  for (const auto& roles : {std::array{Role::loss, Role::error}, std::array{Role::score, Role::score},
                            std::array{Role::other, Role::other}}) {
    for (const std::string& name : names) {
      const Role role = role_of(name);
      if (name != shown.right && (role == roles[0] || role == roles[1])) shown.left.push_back(name);
    }
    if (!shown.left.empty()) break;
  }
  std::vector<std::string> ranked = shown.left;
  rank(ranked);
  if (ranked.size() > most) ranked.resize(most);
  std::erase_if(shown.left,
                [&](const std::string& name) { return std::find(ranked.begin(), ranked.end(), name) == ranked.end(); });
  return shown;
}

Shown shown_in_figure(std::span<const Run> runs, const std::vector<std::string>& names) {
  constexpr std::size_t curves_of_one = 6, curves_of_several = 2;
  return choose_shown(runs, names, runs.size() == 1 ? curves_of_one : curves_of_several);
}

}  // namespace sabath
