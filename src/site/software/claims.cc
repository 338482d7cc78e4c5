#include "software/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "sabath/path.h"
#include "software/need.h"
#include "software/version.h"

namespace sabath {
namespace {

constexpr std::size_t closure_max = 4096, ranges_max = 256, parts_of_range_max = 16;

// "a", "a/b" and "a/b/1" of "a/b/1".
std::vector<std::string> beginnings_of(const std::string& module) {
  std::vector<std::string> all;
  for (auto slash = module.find('/'); slash != std::string::npos && all.size() < 16;
       slash = module.find('/', slash + 1))
    all.push_back(module.substr(0, slash));
  all.push_back(module);
  return all;
}

// The version "default" is any of the name.
std::string name_of_need(const std::string& need) {
  const std::string name = need.substr(0, need.find('@'));
  return name.ends_with("/default") ? name.substr(0, name.size() - 8) : name;
}

// "12", "12:13", "12:", ":13" and lists of these, as environment-modules has them behind an '@': ":13" has 13.2, too,
// and
// ":<=13" of Lmod has not.
bool is_in_ranges(const std::string& version, std::string_view ranges) {
  using Kind = VersionBound::Kind;
  for (std::size_t part = 0; !ranges.empty() && part < parts_of_range_max; ++part) {
    const auto end = std::min(ranges.find(','), ranges.size());
    const std::string_view range = ranges.substr(0, end);
    ranges.remove_prefix(std::min(end + 1, ranges.size()));
    const auto colon = range.find(':');
    if (colon == std::string_view::npos) {
      if (version.starts_with(range) && (version.size() == range.size() || version[range.size()] == '.')) return true;
      continue;
    }
    const std::string first(range.substr(0, colon)), last(range.substr(colon + 1));
    const bool begins = first.empty() || meets(version, VersionBound{Kind::at_least, first});
    const bool ends = last.starts_with("<=") ? compare_versions(version, last.substr(2)) <= 0
                                             : last.empty() || meets(version, VersionBound{Kind::at_most, last});
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::pair<std::string, std::string> parts_of_module(const std::string& module) {
  const auto slash = module.rfind('/');
  if (slash == std::string::npos) return {module, ""};
  return {module.substr(0, slash), module.substr(slash + 1)};
}

bool is_hidden_module(std::string_view module) { return module.starts_with('.') || module.find("/.") != module.npos; }

ClaimBook::ClaimBook(std::span<const Software> table)
    : table_(table), texts_{""}, keys_(1), ranges_left_(ranges_max), claims_(table.size()) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (const std::string& module : table[row].chain) {
      auto& below = below_[module];
      if (below.empty() || below.back() != row) below.push_back(row);
    }
    for (const std::string& conflict : table[row].conflicts) add_range(conflict);
    if (table[row].module.empty()) continue;
    for (const std::string& beginning : beginnings_of(table[row].module)) rows_.emplace(beginning, row);
  }
}

void ClaimBook::add_range(const std::string& conflict) {
  if (ranges_left_ == 0 || conflict.find('@') == std::string::npos) return;
  auto& known = ranges_[name_of_need(conflict)];
  if (std::ranges::find(known, conflict) != known.end()) return;
  known.push_back(conflict);
  --ranges_left_;
}

const std::vector<std::size_t>& ClaimBook::rows_below(const std::string& module) const {
  static const std::vector<std::size_t> none;
  const auto found = below_.find(module);
  return found == below_.end() ? none : found->second;
}

unsigned ClaimBook::number(const std::string& text) {
  const auto [at, made] = numbers_.try_emplace(text, static_cast<unsigned>(texts_.size()));
  if (made) {
    texts_.push_back(text);
    keys_.emplace_back();
  }
  return at->second;
}

unsigned ClaimBook::module_number(const std::string& module) {
  const unsigned one = number(module);
  if (!keys_[one].empty()) return one;
  std::vector<unsigned> keys;
  for (const std::string& beginning : beginnings_of(module)) {
    keys.push_back(number(beginning));
    const auto ranges = ranges_.find(beginning);
    if (ranges == ranges_.end()) continue;
    for (const std::string& range : ranges->second) {
      if (is_in_ranges(parts_of_module(module).second, std::string_view(range).substr(range.find('@') + 1)))
        keys.push_back(number(range));
    }
  }
  keys_[one] = std::move(keys);
  return one;
}

const std::vector<std::size_t>& ClaimBook::rows_meeting(const std::string& need) {
  const auto [at, made] = meeting_.try_emplace(need);
  if (!made) return at->second;
  auto [first, last] = rows_.equal_range(need);
  if (first == last) std::tie(first, last) = rows_.equal_range(name_of_need(need));
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  for (; first != last; ++first) {
    const Software& one = table_[first->second];
    if (const auto at = need.find('@'); at != std::string::npos && first->first != need &&
                                        !is_in_ranges(parts_of_module(one.module).second, need.substr(at + 1)))
      continue;
    if (seen.emplace(one.module, one.chain).second) at->second.push_back(first->second);
  }
  std::ranges::stable_sort(at->second, [&](std::size_t a, std::size_t b) {
    const int order =
        compare_versions(parts_of_module(table_[a].module).second, parts_of_module(table_[b].module).second);
    return order != 0 ? order > 0 : table_[a].chain.size() < table_[b].chain.size();
  });
  return at->second;
}

// The row whose own chain is what is before it; else one that needs less of it.
std::optional<std::size_t> ClaimBook::parent_of(std::size_t row, std::size_t place) {
  const auto before = std::span(table_[row].chain).first(place);
  std::optional<std::size_t> found;
  for (const std::size_t one : rows_meeting(table_[row].chain[place])) {
    if (table_[one].module != table_[row].chain[place]) continue;
    const auto& chain = table_[one].chain;
    if (std::ranges::equal(chain, before)) return one;
    const auto is_before = [&](const std::string& module) { return std::ranges::find(before, module) != before.end(); };
    if (!found && std::ranges::all_of(chain, is_before)) found = one;
  }
  return found;
}

bool ClaimBook::is_taken(const ClaimState& state, std::size_t row) {
  const auto slot = numbers_.find("\nmodule " + parts_of_module(table_[row].module).first);
  return slot != numbers_.end() && state.has(slot->second, static_cast<unsigned>(row) + 1);
}

void ClaimBook::add_own(SoftwareClaims& claims, std::size_t row) {
  const Software& one = table_[row];
  claims.rows.push_back(row);
  if (!one.program.empty()) {
    const unsigned program = number(one.program);
    claims.of.push_back({number("\ninterpreter"), program, program});
  }
  if (one.module.empty()) return;
  const unsigned module = module_number(one.module);
  const std::string own_name = parts_of_module(one.module).first;
  claims.of.push_back({number("\nmodule " + own_name), static_cast<unsigned>(row) + 1, module});
  if (!one.family.empty()) claims.of.push_back({number("\nfamily " + one.family), module, module});
  claims.modules.push_back(module);
  for (const std::string& other : one.conflicts) {
    // Other versions of its own name are excluded anyway.
    if (name_of_need(other) == own_name || other.starts_with(own_name + "/")) continue;
    claims.conflicts.push_back({number(other), module});
    if (ranges_left_ == 0 && other.find('@') != std::string::npos)
      claims.never = fmt::format("conflicts of the profile name {} ranges or more: too many", ranges_max);
  }
}

void ClaimBook::add_parents(SoftwareClaims& claims, std::size_t row, std::vector<std::size_t>& open) {
  for (std::size_t i = 0; i < table_[row].chain.size(); ++i) {
    if (const auto parent = parent_of(row, i)) {
      open.push_back(*parent);
    } else if (!is_hidden_module(table_[row].chain[i])) {
      claims.never = fmt::format("it is loaded after {}, which is nowhere", printable(table_[row].chain[i], 300));
    }
  }
}

void ClaimBook::add_needs(SoftwareClaims& claims, std::size_t row, std::vector<std::size_t>& open) {
  for (const std::string& need : table_[row].needs) {
    const auto& rows = rows_meeting(need);
    const auto& below = rows_below(table_[row].module);
    std::size_t first = 0;  // that is not below it, if it must be there before
    const auto is_late = [&](std::size_t one) { return std::ranges::binary_search(below, one); };
    while (!table_[row].opens_first && first < rows.size() && is_late(rows[first])) ++first;
    work_ += first + 1;
    const bool is_one = first < rows.size() && !table_[row].opens_first && !below.empty() && rows.size() <= 64 &&
                        std::ranges::all_of(std::span(rows).subspan(first + 1), is_late);
    if (rows.size() == 1 ? first == 0 : is_one) {
      open.push_back(rows[first]);
    } else if (!rows.empty() && first == rows.size()) {
      claims.never = fmt::format("{} needs {}, which is there only after it", printable(table_[row].module, 300),
                                 printable(need, 300));
    } else if (!rows.empty()) {
      claims.open.push_back(need);
    } else if (!is_hidden_module(need)) {
      claims.never =
          fmt::format("{} needs {}, which is nowhere", printable(table_[row].module, 300), printable(need, 300));
    }
  }
}

// With all that must come with it, to any depth.
const SoftwareClaims& ClaimBook::claims_of(std::size_t row) {
  if (claims_[row]) return *claims_[row];
  SoftwareClaims all;
  std::deque<SoftwareClaims> each;  // the state points to them
  std::vector<std::size_t> open{row};
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < open.size() && all.never.empty(); ++i) {
    if (!seen.insert(open[i]).second) continue;
    if (seen.size() > closure_max) {
      all.never = fmt::format("it needs more than {} modules", closure_max);
      break;
    }
    SoftwareClaims& own = each.emplace_back();
    add_own(own, open[i]);
    const std::size_t one = open[i];  // `open` grows
    add_parents(own, one, open);
    add_needs(own, one, open);
    if (own.never.empty()) {
      if (const auto clash = scratch_.clash_with(own))
        own.never = fmt::format("it contradicts itself: {} is in the way", printable(text(clash->shown), 300));
    }
    all.never = own.never;
    all.of.insert(all.of.end(), own.of.begin(), own.of.end());
    all.modules.insert(all.modules.end(), own.modules.begin(), own.modules.end());
    all.conflicts.insert(all.conflicts.end(), own.conflicts.begin(), own.conflicts.end());
    all.rows.insert(all.rows.end(), own.rows.begin(), own.rows.end());
    all.open.insert(all.open.end(), own.open.begin(), own.open.end());
    scratch_.take(own, 0);
  }
  for (std::size_t i = 0; i < each.size(); ++i) scratch_.give_back();
  return claims_[row].emplace(std::move(all));
}

ClaimState::Place& ClaimState::place(unsigned number) {
  if (now_.size() <= number) now_.resize(number + 64);
  ++work_;
  return now_[number];
}

std::optional<SoftwareClash> ClaimState::clash_with(const SoftwareClaims& claims) {
  ++work_;
  for (const SoftwareClaim& one : claims.of) {
    const Place& now = place(one.slot);
    if (now.value != 0 && now.value != one.value) return SoftwareClash{now.shown, now.level};
  }
  for (const unsigned module : claims.modules) {
    if (place(module).loaded != 0) continue;
    for (const unsigned key : book_->keys_of(module)) {
      if (const Place& now = place(key); now.excluded != 0) return SoftwareClash{module, now.excluded_level};
    }
  }
  for (const SoftwareConflict& conflict : claims.conflicts) {
    if (place(conflict.own).loaded != 0) continue;  // it is there, and this with it
    if (const Place& now = place(conflict.key); now.loaded != 0)
      return SoftwareClash{now.loaded_shown, now.loaded_level};
  }
  return std::nullopt;
}

void ClaimState::take(const SoftwareClaims& claims, unsigned level) {
  taken_.push_back(&claims);
  auto& made = made_.emplace_back();
  for (const SoftwareClaim& one : claims.of) {
    Place& now = place(one.slot);
    if (now.value != 0) continue;
    now.value = one.value;
    now.shown = one.shown;
    now.level = level;
    made.push_back(one.slot);
  }
  for (const unsigned module : claims.modules) {
    for (const unsigned key : book_->keys_of(module)) {
      Place& now = place(key);
      if (now.loaded++ != 0) continue;
      now.loaded_level = level;
      now.loaded_shown = module;
    }
  }
  for (const SoftwareConflict& conflict : claims.conflicts) {
    Place& now = place(conflict.key);
    if (now.excluded++ == 0) now.excluded_level = level;
  }
}

void ClaimState::give_back() {
  const SoftwareClaims& claims = *taken_.back();
  for (const unsigned slot : made_.back()) now_[slot].value = 0;
  for (const unsigned module : claims.modules)
    for (const unsigned key : book_->keys_of(module)) --now_[key].loaded;
  for (const SoftwareConflict& conflict : claims.conflicts) --now_[conflict.key].excluded;
  taken_.pop_back();
  made_.pop_back();
}

}  // namespace sabath
