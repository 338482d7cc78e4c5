#include "software/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "sabath/path.h"

namespace sabath {
bool SoftwareSearch::is_at_bound() const { return state_.work() + book_->work() + order_.work() > work_max; }

bool SoftwareSearch::first() { return search(); }

// What the chosen rows need is not varied: it is another choice only if a need has another row.
bool SoftwareSearch::next() {
  while (levels_.size() > candidates_.size()) {
    if (levels_.back().is_taken) state_.give_back();
    levels_.pop_back();
  }
  if (levels_.empty()) return false;
  open_last_again();
  return search();
}

void SoftwareSearch::open_last_again() {
  Level& last = levels_.back();
  open_again(last);
  for (unsigned before = 0; before + 1 < levels_.size(); ++before) last.blame.insert(before);
}

bool SoftwareSearch::is_loaded_so() {
  auto why = order_.why_not(rows());
  if (why.empty()) return true;
  not_loaded_ = std::move(why);
  return false;
}

void SoftwareSearch::open_again(Level& level) {
  state_.give_back();
  level.is_taken = false;
  ++level.at;
}

bool SoftwareSearch::search() {
  while (!is_at_bound()) {
    if ((levels_.empty() || levels_.back().is_taken) && !add_level()) {
      if (levels_.empty() || is_loaded_so()) return true;
      open_last_again();
    }
    if (!take_next() && !jump_back()) return false;
  }
  return false;
}

// Of the next need, else of the first thing that a chosen row needs and that is not there; false: there is none.
bool SoftwareSearch::add_level() {
  if (levels_.size() < candidates_.size()) {
    levels_.push_back({&candidates_[levels_.size()], 0, {}, false});
    return true;
  }
  for (unsigned level = 0; level < levels_.size(); ++level) {
    const Level& one = levels_[level];
    for (const std::string& need : book_->claims_of((*one.candidates)[one.at].row).open) {
      if (is_met(need)) continue;
      const auto [at, made] = of_open_.try_emplace(need);
      if (made) {
        for (const std::size_t row : book_->rows_meeting(need)) at->second.push_back({row, ""});
      }
      levels_.push_back({&at->second, 0, {level}, false, need, (*one.candidates)[one.at].row});
      return true;
    }
  }
  return false;
}

bool SoftwareSearch::is_met(const std::string& need) {
  return std::ranges::any_of(book_->rows_meeting(need), [&](std::size_t row) { return book_->is_taken(state_, row); });
}

bool SoftwareSearch::take_next() {
  Level& level = levels_.back();
  const auto depth = static_cast<unsigned>(levels_.size() - 1);
  for (; level.at < level.candidates->size() && !is_at_bound(); ++level.at) {
    const SoftwareClaims& claims = book_->claims_of((*level.candidates)[level.at].row);
    if (!claims.never.empty()) continue;
    if (const auto clash = state_.clash_with(claims)) {
      level.blame.insert(clash->level);
      continue;
    }
    state_.take(claims, depth);
    level.is_taken = true;
    if (later_needs_fit(level, depth)) return true;
    state_.give_back();
    level.is_taken = false;
  }
  if (depth < candidates_.size()) {
    dead_(depth, depth);
  } else if (not_loaded_.empty()) {
    not_loaded_ = fmt::format("{} comes with {}, and none of those goes with the others",
                              printable(book_->table()[level.by].module, 300), printable(level.need, 300));
  }
  return false;
}

bool SoftwareSearch::later_needs_fit(Level& level, unsigned depth) {
  for (std::size_t later = depth + 1; later < candidates_.size(); ++later) {
    std::set<unsigned> blame;
    const bool fits = std::ranges::any_of(candidates_[later], [&](const SoftwarePick& one) {
      const SoftwareClaims& claims = book_->claims_of(one.row);
      if (!claims.never.empty()) return false;
      const auto clash = state_.clash_with(claims);
      if (clash) blame.insert(clash->level);
      return !clash;
    });
    if (fits) continue;
    dead_(depth + 1, later);
    blame.erase(depth);
    level.blame.merge(blame);
    return false;
  }
  return true;
}

bool SoftwareSearch::jump_back() {
  std::set<unsigned> blame = std::move(levels_.back().blame);
  levels_.pop_back();
  if (blame.empty()) return false;
  const unsigned to = *blame.rbegin();
  blame.erase(to);
  for (; levels_.size() > to + 1U; levels_.pop_back())
    if (levels_.back().is_taken) state_.give_back();
  open_again(levels_[to]);
  levels_[to].blame.merge(blame);
  return true;
}

std::vector<SoftwarePick> SoftwareSearch::picks() const {
  std::vector<SoftwarePick> all;
  for (std::size_t i = 0; i < std::min(levels_.size(), candidates_.size()); ++i)
    if (levels_[i].is_taken) all.push_back((*levels_[i].candidates)[levels_[i].at]);
  return all;
}

std::vector<std::size_t> SoftwareSearch::wanted_before(std::size_t row) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < book_->table()[row].chain.size(); ++i)
    if (const auto parent = book_->parent_of(row, i)) all.push_back(*parent);
  for (const std::string& need : book_->table()[row].needs) {
    const auto& rows = book_->rows_meeting(need);
    const auto found = std::ranges::find_if(rows, [&](std::size_t one) { return book_->is_taken(state_, one); });
    if (found != rows.end()) all.push_back(*found);
  }
  return all;
}

bool SoftwareSearch::has_parents(std::size_t row, const std::vector<std::size_t>& loaded) {
  for (std::size_t i = 0; i < book_->table()[row].chain.size(); ++i) {
    const auto parent = book_->parent_of(row, i);
    if (parent && std::ranges::find(loaded, *parent) == loaded.end()) return false;
  }
  return true;
}

// Depth first, without recursion: chains of needs are as long as the table. What a parent needs of those that are below
// itself comes behind it.
std::vector<std::size_t> SoftwareSearch::rows() {
  std::vector<std::size_t> all, late;
  std::set<std::size_t> seen;
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> open;
  const auto enter = [&](std::size_t row) {
    if (!seen.insert(row).second) return;
    open.emplace_back(row, wanted_before(row));
    std::ranges::reverse(open.back().second);
  };
  for (const SoftwarePick& pick : picks()) {
    enter(pick.row);
    while (!open.empty()) {
      auto& [row, before] = open.back();
      if (before.empty()) {
        (has_parents(row, all) ? all : late).push_back(row);
        open.pop_back();
        continue;
      }
      const std::size_t next = before.back();
      before.pop_back();
      enter(next);
    }
    for (std::size_t i = 0; i < late.size();) {
      if (!has_parents(late[i], all)) {
        ++i;
        continue;
      }
      all.push_back(late[i]);
      late.erase(late.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
  }
  return all;
}

}  // namespace sabath
