#include "report/roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool has_any(const std::string& name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

// Of all runs, each name once, in the order of appearance.
std::vector<std::string> all_names(std::span<const Run> runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    for (const Series& series : run.series) {
      if (std::find(names.begin(), names.end(), series.name) == names.end()) names.push_back(series.name);
    }
  }
  return names;
}

[[noreturn]] void throw_unknown(const std::string& name, const std::vector<std::string>& names) {
  const auto like = nearest(name, names);
  throw Error(FailureKind::not_found, fmt::format("no run has a metric '{}'", printable(name)),
              like ? fmt::format("did you mean '{}'?", printable(*like))
                   : "there are: " + printable(fmt::format("{}", fmt::join(names, ", ")), 1000));
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

Shown choose_shown(std::span<const Run> runs, const std::vector<std::string>& wanted, std::size_t most) {
  const std::vector<std::string> names = all_names(runs);
  Shown shown;
  for (const char* const name : {"epoch_time", "time"}) {
    if (shown.right.empty() && std::find(names.begin(), names.end(), name) != names.end()) shown.right = name;
  }
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end()) throw_unknown(name, names);
    shown.left.push_back(name);
  }
  if (!wanted.empty()) return shown;
  for (const auto& roles : {std::array{Role::loss, Role::error}, std::array{Role::score, Role::score},
                            std::array{Role::other, Role::other}}) {
    for (const std::string& name : names) {
      const Role role = role_of(name);
      if (name != shown.right && (role == roles[0] || role == roles[1])) shown.left.push_back(name);
    }
    if (!shown.left.empty()) break;
  }
  // Several runs are compared by their validation.
  if (runs.size() > 1 && shown.left.size() > most && std::any_of(shown.left.begin(), shown.left.end(), is_validation))
    std::erase_if(shown.left, [](const std::string& name) { return !is_validation(name); });
  // The shortest names are the totals: "val_loss" before "val_conv2d_20_loss". Validation and errors come first when
  // not all can be shown.
  const auto rank = [](const std::string& name) { return std::tuple(name.size(), !is_validation(name)); };
  std::vector<std::string> ranked = shown.left;
  std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
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
