// What software claims of a process that loads it, with all that comes with it: one version of each module, one module
// of each family, one interpreter. Two that claim different things cannot be loaded together. Pure; one thread.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/verbs/site.h"

namespace sabath {

struct SoftwareClaim {
  unsigned slot = 0, value = 0;  // what there is one of, and what takes it
  unsigned shown = 0;            // the number of its name
};

struct SoftwareConflict {
  unsigned key = 0, own = 0;  // a module or the beginning of one; the module that says so
};

struct SoftwareClaims {
  std::vector<SoftwareClaim> of;
  std::vector<unsigned> modules;  // all that is loaded with it
  std::vector<SoftwareConflict> conflicts;
  std::vector<std::size_t> rows;  // of the table, itself first
  std::vector<std::string> open;  // needs that several rows meet
  std::string never;              // why it cannot be loaded at all; empty: it can
};

struct SoftwareClash {
  unsigned shown = 0, level = 0;  // what is in the way, and when it was taken
};

class ClaimBook;

// What those that were taken so far claim together.
class ClaimState {
 public:
  explicit ClaimState(const ClaimBook& book) : book_(&book) {}
  [[nodiscard]] std::optional<SoftwareClash> clash_with(const SoftwareClaims& claims);  // nullopt: they go together
  void take(const SoftwareClaims& claims, unsigned level);
  void give_back();  // what was taken last
  [[nodiscard]] bool has(unsigned slot, unsigned value) const {
    return slot < now_.size() && now_[slot].value == value;
  }
  [[nodiscard]] std::size_t work() const noexcept { return work_; }

 private:
  struct Place {
    unsigned value = 0, shown = 0, level = 0;  // of the slot of this number; 0: free
    unsigned loaded = 0, loaded_level = 0, loaded_shown = 0;
    unsigned excluded = 0, excluded_level = 0;
  };
  [[nodiscard]] Place& place(unsigned number);
  const ClaimBook* book_;
  std::vector<Place> now_;
  std::vector<const SoftwareClaims*> taken_;
  std::vector<std::vector<unsigned>> made_;  // the slots that each of them took
  std::size_t work_ = 0;
};

class ClaimBook {
 public:
  explicit ClaimBook(std::span<const Software> table);

  [[nodiscard]] const SoftwareClaims& claims_of(std::size_t row);  // made when they are first asked for
  // Of modules with this name or with a name that begins with it, the newest first. Once for each module and chain.
  [[nodiscard]] const std::vector<std::size_t>& rows_meeting(const std::string& need);
  [[nodiscard]] std::optional<std::size_t> parent_of(std::size_t row, std::size_t place);  // chain[place] of it
  [[nodiscard]] bool is_taken(const ClaimState& state, std::size_t row);
  [[nodiscard]] std::span<const Software> table() const { return table_; }
  [[nodiscard]] std::size_t work() const noexcept { return scratch_.work() + work_; }
  // Rows whose chain has this module: what is below it.
  [[nodiscard]] const std::vector<std::size_t>& rows_below(const std::string& module) const;
  [[nodiscard]] std::string text(unsigned number) const { return texts_[number]; }
  [[nodiscard]] const std::vector<unsigned>& keys_of(unsigned module) const { return keys_[module]; }

 private:
  [[nodiscard]] unsigned number(const std::string& text);
  [[nodiscard]] unsigned module_number(const std::string& module);
  void add_own(SoftwareClaims& claims, std::size_t row);
  void add_parents(SoftwareClaims& claims, std::size_t row, std::vector<std::size_t>& open);
  void add_range(const std::string& conflict);
  void add_needs(SoftwareClaims& claims, std::size_t row, std::vector<std::size_t>& open);

  std::span<const Software> table_;
  std::map<std::string, unsigned, std::less<>> numbers_;
  std::vector<std::string> texts_;
  std::vector<std::vector<unsigned>> keys_;                    // by the number of a module
  std::multimap<std::string, std::size_t, std::less<>> rows_;  // by module and by each beginning of it
  std::map<std::string, std::vector<std::size_t>> below_;
  std::map<std::string, std::vector<std::string>> ranges_;  // that conflicts name, by their names
  std::size_t work_ = 0, ranges_left_;
  std::map<std::string, std::vector<std::size_t>> meeting_;
  std::vector<std::optional<SoftwareClaims>> claims_;
  ClaimState scratch_{*this};
};

// "gcc/12.3" in its name and version: {"gcc", "12.3"}; without a version {"gcc", ""}.
[[nodiscard]] std::pair<std::string, std::string> parts_of_module(const std::string& module);
// A module that is not listed, as EasyBuild's "zlib/.1.2.11": it may be there, though no table names it.
[[nodiscard]] bool is_hidden_module(std::string_view module);

}  // namespace sabath
