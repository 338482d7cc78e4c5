#include "software/loading.h"

#include <fmt/format.h>

#include <algorithm>

#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t look_up = 20;  // in a map by a text, beside a look at a number

}  // namespace

std::string LoadingOrder::why_not(const std::vector<std::size_t>& rows) {
  const auto table = book_->table();
  loaded_.clear();
  std::vector<std::size_t> in_several_places;  // and something of the other places is loaded
  for (const std::size_t row : rows) {
    if (table[row].module.empty()) continue;
    if (auto why = why_not_next(row, rows); !why.empty()) return why;
    loaded_[table[row].module] = {row, loaded_.size() + 1};
    if (is_in_several_places(row)) in_several_places.push_back(row);
    for (const std::size_t below : book_->rows_below(table[row].module)) {
      work_ += look_up;
      const auto found = loaded_.find(table[below].module);
      if (found != loaded_.end() && found->second.row != below) in_several_places.push_back(found->second.row);
    }
    std::ranges::sort(in_several_places);
    in_several_places.erase(std::unique(in_several_places.begin(), in_several_places.end()), in_several_places.end());
    for (const std::size_t one : in_several_places) {
      if (auto why = why_replaced(one); !why.empty()) return why;
      if (work_ > work_max_) return "its list is too long to be tried";
    }
    if (work_ > work_max_) return "its list is too long to be tried";
    std::erase_if(in_several_places, [&](std::size_t one) { return !is_reached_elsewhere(one); });
  }
  return "";
}

std::string LoadingOrder::why_not_next(std::size_t row, const std::vector<std::size_t>& rows) {
  const Software& one = book_->table()[row];
  for (std::size_t i = 0; i < one.chain.size(); ++i) {
    if (book_->parent_of(row, i) && !loaded_.contains(one.chain[i]))
      return fmt::format("{} is there only after {}", printable(one.module, 300), printable(one.chain[i], 300));
  }
  for (const std::string& need : one.needs) {
    if (book_->rows_meeting(need).empty() || is_here(row, need) || brings(row, need, rows)) continue;
    return fmt::format("{} needs {}, which is there only after it", printable(one.module, 300), printable(need, 300));
  }
  return "";
}

bool LoadingOrder::is_in_several_places(std::size_t row) {
  const std::string& module = book_->table()[row].module;
  work_ += look_up;
  const auto [at, made] = in_several_places_.try_emplace(module, false);
  if (!made) return at->second;
  const auto& rows = book_->rows_meeting(module);
  work_ += rows.size();
  return at->second =
             std::ranges::count_if(rows, [&](std::size_t one) { return book_->table()[one].module == module; }) > 1;
}

// By the end of MODULEPATH that was added last.
std::string LoadingOrder::why_replaced(std::size_t row) {
  const std::string& module = book_->table()[row].module;
  const auto& rows = book_->rows_meeting(module);
  const std::size_t own = place_of(row);
  for (const std::size_t other : rows) {
    work_ += look_up;
    const Software& there = book_->table()[other];
    if (there.module != module || there.chain == book_->table()[row].chain || !is_reached(other)) continue;
    if (place_of(other) > own && !does_as_well(other, row))
      return fmt::format("{} is another one after {}", printable(module, 300), printable(there.chain.back(), 300));
  }
  return "";
}

bool LoadingOrder::is_here(std::size_t row, std::string_view need) {
  return std::ranges::any_of(book_->rows_meeting(std::string(need)), [&](std::size_t one) {
    work_ += look_up;
    return one != row && loaded_.contains(book_->table()[one].module);
  });
}

// It loads this need by itself: two that need each other, or one from the directories that it has added just before.
bool LoadingOrder::brings(std::size_t row, const std::string& need, const std::vector<std::size_t>& rows) {
  const Software& own = book_->table()[row];
  return std::ranges::any_of(book_->rows_meeting(need), [&](std::size_t one) {
    const auto& chain = book_->table()[one].chain;
    work_ += rows.size();
    return std::ranges::find(rows, one) != rows.end() && std::ranges::all_of(chain, [&](const auto& before) {
             return loaded_.contains(before) || (own.opens_first && before == own.module);
           });
  });
}

bool LoadingOrder::is_reached(std::size_t row) {
  const auto& chain = book_->table()[row].chain;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    work_ += look_up;
    const auto found = loaded_.find(chain[i]);
    if (found == loaded_.end()) return false;
    const auto parent = book_->parent_of(row, i);
    if (parent && book_->table()[*parent].chain != book_->table()[found->second.row].chain) return false;
  }
  return true;
}

// Another place of this module is there, too; the modules that lead to it may come later.
bool LoadingOrder::is_reached_elsewhere(std::size_t row) {
  const std::string& module = book_->table()[row].module;
  return std::ranges::any_of(book_->rows_meeting(module), [&](std::size_t one) {
    return one != row && book_->table()[one].module == module && is_reached(one);
  });
}

// `row` instead of `other`: it asks for nothing more, and nothing that is loaded is below `other`.
bool LoadingOrder::does_as_well(std::size_t row, std::size_t other) {
  const Software &one = book_->table()[row], &chosen = book_->table()[other];
  if (one.family != chosen.family) return false;
  const bool has_needs = std::ranges::all_of(one.needs, [&](const std::string& need) { return is_here(row, need); });
  const bool excludes = std::ranges::any_of(one.conflicts, [&](const std::string& excluded) {
    return parts_of_module(one.module).first != parts_of_module(excluded).first && is_here(row, excluded);
  });
  return has_needs && !excludes && std::ranges::none_of(loaded_, [&](const auto& loaded) {
           ++work_;
           const auto& chain = book_->table()[loaded.second.row].chain;
           return std::ranges::find(chain, one.module) != chain.end();
         });
}

std::size_t LoadingOrder::place_of(std::size_t row) const {
  const auto& chain = book_->table()[row].chain;
  const auto found = chain.empty() ? loaded_.end() : loaded_.find(chain.back());
  return found == loaded_.end() ? 0 : found->second.place;
}

}  // namespace sabath
