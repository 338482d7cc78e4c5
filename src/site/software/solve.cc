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
#include "software/search.h"
#include "software/version.h"

namespace sabath {
namespace {

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
      : table_(table), needs_(needs), book_(table) {
    for (const SoftwareNeed& need : needs) candidates_.push_back(candidates(need, true));
  }

  [[nodiscard]] SoftwareSolution solve() {
    SoftwareSolution solution;
    SoftwareSearch search(book_, candidates_,
                          [&](std::size_t taken, std::size_t of) { note_clash(search, taken, of); });
    if (search.first()) {
      solution.picks = search.picks();
      solution.modules = modules(search.rows());
      solution.also = another_set(solution);
      return solution;
    }
    solution.is_whole = !search.is_at_bound();
    if (clash_.empty()) clash_ = search.why_not_loaded();
    explain(solution);
    solution.nearest = nearest();
    return solution;
  }

 private:
  using Candidates = SoftwareSearch::Candidates;

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

  // Why the newest of a need does not go with those that were taken, of the deepest level that was reached.
  void note_clash(SoftwareSearch& search, std::size_t taken, std::size_t of) {
    if (candidates_[of].empty() || taken + 1 <= reached_) return;
    reached_ = taken + 1;
    const SoftwarePick& one = candidates_[of].front();
    if (const std::string& never = book_.claims_of(one.row).never; !never.empty()) {
      clash_ = fmt::format("{} cannot be loaded: {}", described(one), never);
      clashing_ = of;
      return;
    }
    const auto clash = search.clash_of(one.row);
    if (!clash) return;
    std::vector<std::string> there;
    for (const SoftwarePick& pick : search.picks()) there.push_back(described(pick));
    clash_ = fmt::format("{} does not go with {}: {} is in the way", described(one), fmt::join(there, " and "),
                         printable(book_.text(clash->shown), 300));
    clashing_ = of;
  }

  [[nodiscard]] std::string described(const SoftwarePick& pick) const {
    const Software& one = table_[pick.row];
    std::string text = one.module.empty() ? one.name + " " + pick.version : one.module;
    if (!one.chain.empty()) text += fmt::format(" (after {})", fmt::join(one.chain, ", "));
    if (!one.program.empty()) text += " of " + one.program;
    return printable(text, 300);
  }

  [[nodiscard]] std::vector<std::string> modules(const std::vector<std::size_t>& rows) const {
    std::vector<std::string> all;
    std::set<std::string_view> seen;
    for (const std::size_t row : rows)
      if (!table_[row].module.empty() && seen.insert(table_[row].module).second) all.push_back(table_[row].module);
    return all;
  }

  // The modules of another way to the same versions.
  [[nodiscard]] std::vector<std::string> another_set(const SoftwareSolution& first) {
    std::vector<Candidates> same;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      auto& some = same.emplace_back();
      for (const SoftwarePick& one : candidates_[i])
        if (one.version == first.picks[i].version) some.push_back(one);
    }
    SoftwareSearch search(book_, std::move(same), [](std::size_t, std::size_t) {});
    if (!search.first()) return {};
    for (int tries = 0; tries < 64 && search.next(); ++tries) {
      if (auto others = modules(search.rows()); others != first.modules) return others;
    }
    return {};
  }

  void explain(SoftwareSolution& solution) const {
    auto& against = solution.against;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      if (candidates_[i].empty()) against.push_back(why_none(needs_[i]));
    }
    if (against.empty() && !clash_.empty()) against.push_back(clash_);
    if (!solution.is_whole)
      against.emplace_back("there are too many combinations to try all: say versions, or fewer needs at a time");
    if (against.empty()) against.emplace_back("those that meet each need do not go together");
  }

  [[nodiscard]] std::string why_none(const SoftwareNeed& need) const {
    std::vector<std::string> versions, featured;
    std::set<std::string> names, seen;
    const std::string* unloadable = nullptr;
    for (const Software& one : table_) {
      names.insert(to_lower(one.name.substr(one.name.rfind('/') + 1)));
      const auto version = version_called(one, need.name);
      if (!version) continue;
      if (one.module.empty() && one.program.empty()) {
        unloadable = &one.known;
        continue;
      }
      if (!seen.insert(*version).second) continue;
      versions.push_back(*version);
      if (meets(*version, need)) featured.push_back(*version);
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
    SoftwareSearch search(book_, relaxed, [](std::size_t, std::size_t) {});
    if (!relaxed.empty() && search.first()) return modules(search.rows());
    return first_that_fit(relaxed);
  }

  // Need by need those that go with the ones before; a need that has none is left out.
  [[nodiscard]] std::vector<std::string> first_that_fit(const std::vector<Candidates>& some) {
    std::vector<Candidates> kept;
    std::vector<std::string> all;
    for (const Candidates& one : some) {
      kept.push_back(one);
      SoftwareSearch search(book_, kept, [](std::size_t, std::size_t) {});
      if (search.first()) {
        all = modules(search.rows());
        const auto picks = search.picks();
        for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = {picks[i]};
      } else {
        kept.pop_back();
      }
    }
    return all;
  }

  std::span<const Software> table_;
  std::span<const SoftwareNeed> needs_;
  ClaimBook book_;
  std::vector<Candidates> candidates_;
  std::size_t reached_ = 0, clashing_ = 0;
  std::string clash_;
};

}  // namespace

SoftwareSolution solve_needs(std::span<const Software> table, std::span<const SoftwareNeed> needs) {
  return Solver(table, needs).solve();
}

}  // namespace sabath
