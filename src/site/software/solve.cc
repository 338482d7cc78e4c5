#include "software/solve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "base/text.h"
#include "sabath/path.h"
#include "software/claims.h"
#include "software/version.h"

namespace sabath {
namespace {

constexpr std::size_t checks_max = 1'000'000;  // looks at one candidate: less than a second
constexpr std::size_t shown_max = 8;

bool has_features(const Software& one, const SoftwareNeed& need) {
  return std::ranges::all_of(need.features, [&](const std::string& feature) {
    return std::ranges::find(one.features, feature) != one.features.end();
  });
}

// The version of it by this name: its own, or that of what it provides.
std::optional<std::string> version_called(const Software& one, const std::string& lower_name) {
  if (is_called(one.name, lower_name)) return one.version;
  for (const std::string& text : one.provides) {
    const auto slash = text.rfind('/');
    if (to_lower(std::string_view(text).substr(0, slash)) == lower_name)
      return slash == std::string::npos ? "" : text.substr(slash + 1);
  }
  return std::nullopt;
}

// Chains by their modules, the outermost first: a newer compiler counts more than a newer MPI.
int compare_chains(const Software& a, const Software& b) {
  for (std::size_t i = 0; i < std::min(a.chain.size(), b.chain.size()); ++i) {
    const auto [name, version] = parts_of_module(a.chain[i]);
    const auto [other, others] = parts_of_module(b.chain[i]);
    if (const int order = name == other ? compare_versions(version, others) : other.compare(name); order != 0)
      return order;
  }
  return static_cast<int>(b.chain.size()) -
         static_cast<int>(a.chain.size());  // what needs less is as good, and simpler
}

class Solver {
 public:
  Solver(std::span<const Software> table, std::span<const SoftwareNeed> needs)
      : table_(table), needs_(needs), book_(table), state_(book_) {
    for (const SoftwareNeed& need : needs) candidates_.push_back(candidates(need, true));
  }

  [[nodiscard]] SoftwareSolution solve() {
    SoftwareSolution solution;
    if (search(0, false)) {
      solution.picks = picks();
      solution.modules = modules();
      if (another_set(solution)) solution.also = modules();
      return solution;
    }
    explain(solution.against);
    solution.nearest = nearest();
    return solution;
  }

 private:
  using Candidates = std::vector<SoftwarePick>;

  [[nodiscard]] Candidates candidates(const SoftwareNeed& need, bool strictly) const {
    Candidates all;
    for (std::size_t row = 0; row < table_.size(); ++row) {
      const Software& one = table_[row];
      if (one.module.empty() && one.program.empty()) continue;  // no way to load it is known
      auto version = version_called(one, need.name);
      if (!version || (strictly && !(meets(*version, need) && has_features(one, need)))) continue;
      all.push_back({row, std::move(*version)});
    }
    const auto group = [&](const std::string& version) {  // 0: as it is asked; 1: older; 2: newer
      const auto missed =
          std::ranges::find_if_not(need.bounds, [&](const VersionBound& bound) { return meets(version, bound); });
      return missed == need.bounds.end() ? 0 : compare_versions(version, missed->version) < 0 ? 1 : 2;
    };
    std::ranges::stable_sort(all, [&](const SoftwarePick& a, const SoftwarePick& b) {
      const Software &left = table_[a.row], &right = table_[b.row];
      if (left.module.empty() != right.module.empty()) return right.module.empty();
      const int first = group(a.version), second = group(b.version);
      if (first != second) return first < second;
      const int order = compare_versions(a.version, b.version);
      return order != 0 ? (first == 2 ? order < 0 : order > 0) : compare_chains(left, right) > 0;
    });
    return all;
  }

  [[nodiscard]] bool fits(const SoftwarePick& one) {
    ++checks_;
    return !state_.clash_with(book_.claims_of(one.row));
  }

  [[nodiscard]] bool later_fit(std::size_t level) {
    for (std::size_t later = level; later < candidates_.size(); ++later) {
      if (std::ranges::none_of(candidates_[later], [&](const SoftwarePick& one) { return fits(one); })) {
        note_clash(level, later);
        return false;
      }
    }
    return true;
  }

  // Depth first, without recursion. `go_on`: from the set that was found last.
  [[nodiscard]] bool search(std::size_t from, bool go_on) {
    std::size_t level = go_on ? candidates_.size() : from;
    if (!go_on) cursor_.assign(candidates_.size(), 0);
    if (go_on && !step_back(level)) return false;
    while (level < candidates_.size()) {
      if (checks_ > checks_max) return false;
      auto& at = cursor_[level];
      while (at < candidates_[level].size() && !fits(candidates_[level][at])) ++at;
      if (at == candidates_[level].size()) {
        note_clash(level, level);
        if (!step_back(level)) return false;
        continue;
      }
      state_.take(book_.claims_of(candidates_[level][at].row));
      if (later_fit(level + 1)) {
        if (++level < candidates_.size()) cursor_[level] = 0;
      } else {
        state_.give_back();
        ++at;
      }
    }
    return true;
  }

  [[nodiscard]] bool step_back(std::size_t& level) {
    if (level == 0) return false;
    --level;
    state_.give_back();
    ++cursor_[level];
    return true;
  }

  // Why the newest of a need does not go with those that were taken, of the deepest level that was reached.
  void note_clash(std::size_t taken, std::size_t of) {
    if (candidates_[of].empty() || taken + 1 <= reached_) return;
    reached_ = taken + 1;
    const SoftwarePick& one = candidates_[of].front();
    const auto clash = state_.clash_with(book_.claims_of(one.row));
    if (!clash) return;
    std::vector<std::string> there;
    for (std::size_t i = 0; i < std::min(taken, candidates_.size()); ++i)
      if (cursor_[i] < candidates_[i].size()) there.push_back(described(candidates_[i][cursor_[i]]));
    clash_ = fmt::format("{} does not go with {}: {} is in the way", described(one), fmt::join(there, " and "),
                         book_.module_named(clash->first, clash->second));
    clashing_ = of;
  }

  [[nodiscard]] std::string described(const SoftwarePick& pick) const {
    const Software& one = table_[pick.row];
    std::string text = one.module.empty() ? one.name + " " + pick.version : one.module;
    if (!one.chain.empty()) text += fmt::format(" (after {})", fmt::join(one.chain, ", "));
    if (!one.program.empty()) text += " of " + one.program;
    return printable(text, 300);
  }

  [[nodiscard]] std::vector<SoftwarePick> picks() const {
    std::vector<SoftwarePick> all;
    for (std::size_t i = 0; i < candidates_.size(); ++i) all.push_back(candidates_[i][cursor_[i]]);
    return all;
  }

  [[nodiscard]] std::vector<std::string> modules() {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < candidates_.size(); ++i) add_modules(candidates_[i][cursor_[i]].row, all);
    return all;
  }

  void add_modules(std::size_t row, std::vector<std::string>& all) {
    const auto add = [&](const std::string& module) {
      if (std::ranges::find(all, module) == all.end()) all.push_back(module);
    };
    for (const std::size_t one : book_.with_parents(row)) {
      for (const std::string& need : table_[one].needs) {
        const auto found = row_for(need);
        if (!found) continue;
        for (const std::string& module : table_[*found].chain) add(module);
        add(table_[*found].module);
      }
      for (const std::string& module : table_[one].chain) add(module);
      if (!table_[one].module.empty()) add(table_[one].module);
    }
  }

  // What meets the need of a module: by its whole name, else the newest of the name, which goes with all others.
  [[nodiscard]] std::optional<std::size_t> row_for(const std::string& module) {
    auto rows = book_.rows_of_module(module);
    if (rows.empty() && module.find('/') == std::string::npos) {
      for (const SoftwarePick& one : candidates({module, to_lower(module), {}, {}}, true)) rows.push_back(one.row);
    }
    for (const std::size_t row : rows) {
      if (!table_[row].module.empty() && fits({row, ""})) return row;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool another_set(const SoftwareSolution& first) {
    for (int tries = 0; tries < 64 && search(0, true); ++tries) {
      const auto others = picks();
      if (!std::ranges::equal(others, first.picks, {}, &SoftwarePick::version, &SoftwarePick::version)) return false;
      if (modules() != first.modules) return true;
    }
    return false;
  }

  void explain(std::vector<std::string>& against) const {
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (candidates_[i].empty()) against.push_back(why_none(needs_[i]));
    }
    if (against.empty() && !clash_.empty()) against.push_back(clash_);
    if (checks_ > checks_max)
      against.emplace_back("there are too many combinations to try all: say versions, or fewer needs at a time");
    if (against.empty()) against.emplace_back("those that meet each need do not go together");
  }

  [[nodiscard]] std::string why_none(const SoftwareNeed& need) const {
    std::vector<std::string> versions, featured;
    std::set<std::string> names;
    const std::string* unloadable = nullptr;
    for (const Software& one : table_) {
      names.insert(to_lower(one.name.substr(one.name.rfind('/') + 1)));
      const auto version = version_called(one, need.name);
      if (!version) continue;
      if (one.module.empty() && one.program.empty()) {
        unloadable = &one.known;
        continue;
      }
      if (std::ranges::find(versions, *version) == versions.end()) versions.push_back(*version);
      if (meets(*version, need) && std::ranges::find(featured, *version) == featured.end())
        featured.push_back(*version);
    }
    if (versions.empty() && unloadable != nullptr)
      return fmt::format("no module has {}: it is known from {} only", need.name, printable(*unloadable));
    if (versions.empty()) {
      const std::vector<std::string> known(names.begin(), names.end());
      const auto near = nearest_name(need.name, known);
      return fmt::format("no software is called {}{}", need.name, near.empty() ? "" : ": the nearest is " + near);
    }
    const auto newest_first = [](const std::string& a, const std::string& b) { return compare_versions(a, b) > 0; };
    auto& shown = featured.empty() ? versions : featured;
    std::ranges::stable_sort(shown, newest_first);
    const std::string more = shown.size() > shown_max ? fmt::format(" and {} more", shown.size() - shown_max) : "";
    shown.resize(std::min(shown.size(), shown_max));
    if (!featured.empty())
      return fmt::format("{} is here as {}{}, and none of them is known to have {}", need.name, fmt::join(shown, ", "),
                         more, fmt::join(need.features, ", "));
    return fmt::format("{} is here as {}{}, and none of them is {}", need.name, fmt::join(shown, ", "), more,
                       text_of_bounds(need));
  }

  [[nodiscard]] static std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
    return sabath::nearest(name, known).value_or("");
  }

  // With the bounds of what cannot be met left out, and what is not here at all left out, too.
  [[nodiscard]] std::vector<std::string> nearest() {
    std::vector<Candidates> relaxed, open;  // what is dropped first comes last
    const bool each_alone = std::ranges::none_of(candidates_, &Candidates::empty);
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      const bool loose = candidates_[i].empty() || (each_alone && i == clashing_);
      auto some = loose ? candidates(needs_[i], false) : candidates_[i];
      if (!some.empty()) (loose ? open : relaxed).push_back(std::move(some));
    }
    std::ranges::move(open, std::back_inserter(relaxed));
    candidates_ = std::move(relaxed);
    state_ = ClaimState(book_);
    checks_ = 0;
    if (!candidates_.empty() && search(0, false)) return modules();
    return first_that_fit();
  }

  // Need by need the first that goes with those before it; a need that has none is left out.
  [[nodiscard]] std::vector<std::string> first_that_fit() {
    state_ = ClaimState(book_);
    std::vector<std::string> all;
    for (const Candidates& some : candidates_) {
      const auto first = std::ranges::find_if(some, [&](const SoftwarePick& one) { return fits(one); });
      if (first == some.end()) continue;
      state_.take(book_.claims_of(first->row));
      add_modules(first->row, all);
    }
    return all;
  }

  std::span<const Software> table_;
  std::span<const SoftwareNeed> needs_;
  ClaimBook book_;
  ClaimState state_;
  std::vector<Candidates> candidates_;
  std::vector<std::size_t> cursor_;
  std::size_t checks_ = 0, reached_ = 0, clashing_ = 0;
  std::string clash_;
};

}  // namespace

SoftwareSolution solve_needs(std::span<const Software> table, std::span<const SoftwareNeed> needs) {
  return Solver(table, needs).solve();
}

}  // namespace sabath
