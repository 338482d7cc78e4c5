#include "software/claims.h"

#include <algorithm>

namespace sabath {
namespace {

constexpr const char* family_mark = "the family ";
constexpr const char* interpreter_mark = "the interpreter";
constexpr std::size_t closure_max = 64;

}  // namespace

std::pair<std::string, std::string> parts_of_module(const std::string& module) {
  const auto slash = module.rfind('/');
  if (slash == std::string::npos) return {module, ""};
  return {module.substr(0, slash), module.substr(slash + 1)};
}

ClaimBook::ClaimBook(std::span<const Software> table) : table_(table), texts_{""}, claims_(table.size()) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (!table[row].module.empty()) rows_.emplace(table[row].module, row);
  }
}

unsigned ClaimBook::number(const std::string& text) {
  const auto [at, made] = numbers_.try_emplace(text, static_cast<unsigned>(texts_.size()));
  if (made) texts_.push_back(text);
  return at->second;
}

void ClaimBook::claim(SoftwareClaims& claims, const std::string& name, const std::string& value) {
  const std::pair one{number(name), number(value)};
  if (std::ranges::find(claims.of, one) == claims.of.end()) claims.of.push_back(one);
}

void ClaimBook::claim_module(SoftwareClaims& claims, const std::string& module) {
  const auto [name, version] = parts_of_module(module);
  claim(claims, name, module);
  const auto first = rows_.find(module);
  if (first == rows_.end()) return;
  if (const std::string& family = table_[first->second].family; !family.empty())
    claim(claims, family_mark + family, module);
}

std::vector<std::size_t> ClaimBook::rows_of_module(const std::string& module) const {
  std::vector<std::size_t> rows;
  const auto [first, last] = rows_.equal_range(module);
  for (auto at = first; at != last; ++at) rows.push_back(at->second);
  return rows;
}

std::vector<std::size_t> ClaimBook::with_parents(std::size_t row) const {
  std::vector<std::size_t> all;
  const auto& chain = table_[row].chain;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    for (const std::size_t parent : rows_of_module(chain[i])) {
      if (!std::ranges::equal(table_[parent].chain, std::span(chain).first(i))) continue;
      all.push_back(parent);
      break;
    }
  }
  all.push_back(row);
  return all;
}

// Of all that it loads, and what that loads in turn. Below several parents only the module itself counts.
void ClaimBook::claim_needs(SoftwareClaims& claims, std::size_t row) {
  std::vector<std::string> open, seen;
  for (const std::size_t one : with_parents(row))
    open.insert(open.end(), table_[one].needs.begin(), table_[one].needs.end());
  while (!open.empty() && seen.size() < closure_max) {
    const std::string module = std::move(open.back());
    open.pop_back();
    if (std::ranges::find(seen, module) != seen.end() || module.find('/') == std::string::npos) continue;
    seen.push_back(module);
    claim_module(claims, module);
    const auto rows = rows_of_module(module);
    if (rows.size() != 1) continue;
    for (const std::string& parent : table_[rows[0]].chain) claim_module(claims, parent);
    open.insert(open.end(), table_[rows[0]].needs.begin(), table_[rows[0]].needs.end());
  }
}

const SoftwareClaims& ClaimBook::claims_of(std::size_t row) {
  if (claims_[row]) return *claims_[row];
  const Software& one = table_[row];
  SoftwareClaims claims;
  for (const std::string& parent : one.chain) claim_module(claims, parent);
  if (!one.module.empty()) claim_module(claims, one.module);
  if (!one.family.empty()) claim(claims, family_mark + one.family, one.module);
  if (!one.program.empty()) claim(claims, interpreter_mark, one.program);
  claim_needs(claims, row);
  for (const std::string& other : one.conflicts) {
    const auto [name, version] = parts_of_module(other);
    // Without a version all of that name; of its own name others are excluded anyway.
    if (name == parts_of_module(one.module).first || other == parts_of_module(one.module).first) continue;
    claims.conflicts.emplace_back(number(version.empty() ? other : name), version.empty() ? 0 : number(other));
  }
  return claims_[row].emplace(std::move(claims));
}

std::string ClaimBook::module_named(unsigned name, unsigned claim) const {
  return claim != 0 ? texts_[claim] : texts_[name];
}

std::optional<std::pair<unsigned, unsigned>> ClaimState::clash_with(const SoftwareClaims& claims) const {
  const auto excludes = [](const std::pair<unsigned, unsigned>& conflict, unsigned name, unsigned claim) {
    return conflict.first == name && (conflict.second == 0 || conflict.second == claim);
  };
  for (const auto& [name, claim] : claims.of) {
    if (const unsigned now = claim_of(name); now != 0 && now != claim) return std::pair(name, now);
    for (const auto& conflict : conflicts_) {
      if (excludes(conflict, name, claim)) return std::pair(name, claim);
    }
  }
  for (const auto& conflict : claims.conflicts) {
    if (const unsigned now = claim_of(conflict.first); now != 0 && excludes(conflict, conflict.first, now))
      return std::pair(conflict.first, now);
  }
  return std::nullopt;
}

void ClaimState::take(const SoftwareClaims& claims) {
  before_.emplace_back(made_.size(), conflicts_.size());
  for (const auto& [name, claim] : claims.of) {
    if (now_.size() <= name) now_.resize(std::max<std::size_t>(name + 1, book_->texts_.size()));
    if (now_[name] != 0) continue;
    now_[name] = claim;
    made_.push_back(name);
  }
  conflicts_.insert(conflicts_.end(), claims.conflicts.begin(), claims.conflicts.end());
}

void ClaimState::give_back() {
  for (; made_.size() > before_.back().first; made_.pop_back()) now_[made_.back()] = 0;
  conflicts_.resize(before_.back().second);
  before_.pop_back();
}

}  // namespace sabath
