// What software claims of a process that loads it: one version of each module, one module of each family, one
// interpreter. Two that claim different things cannot be loaded together. Pure; one thread.
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

struct SoftwareClaims {
  std::vector<std::pair<unsigned, unsigned>> of;         // (name, what it claims), both by number
  std::vector<std::pair<unsigned, unsigned>> conflicts;  // (name, version); version 0: any
};

class ClaimBook {
 public:
  explicit ClaimBook(std::span<const Software> table);

  [[nodiscard]] const SoftwareClaims& claims_of(std::size_t row);  // made when they are first asked for
  [[nodiscard]] std::vector<std::size_t> rows_of_module(const std::string& module) const;
  [[nodiscard]] std::vector<std::size_t> with_parents(std::size_t row) const;   // itself last; those the table has
  [[nodiscard]] std::string module_named(unsigned name, unsigned claim) const;  // "gcc/12.3", "the family mpi"

 private:
  friend class ClaimState;
  [[nodiscard]] unsigned number(const std::string& text);
  void claim(SoftwareClaims& claims, const std::string& name, const std::string& value);
  void claim_module(SoftwareClaims& claims, const std::string& module);
  void claim_needs(SoftwareClaims& claims, std::size_t row);

  std::span<const Software> table_;
  std::map<std::string, unsigned> numbers_;
  std::vector<std::string> texts_;
  std::multimap<std::string, std::size_t> rows_;  // by module
  std::vector<std::optional<SoftwareClaims>> claims_;
};

// What those that were taken so far claim together.
class ClaimState {
 public:
  explicit ClaimState(const ClaimBook& book) : book_(&book) {}
  // (name, version) of the first thing that both claim, and differently; nullopt: they go together.
  [[nodiscard]] std::optional<std::pair<unsigned, unsigned>> clash_with(const SoftwareClaims& claims) const;
  void take(const SoftwareClaims& claims);
  void give_back();  // what was taken last

 private:
  [[nodiscard]] unsigned claim_of(unsigned name) const { return name < now_.size() ? now_[name] : 0; }
  const ClaimBook* book_;
  std::vector<unsigned> now_;  // by name; 0: free
  std::vector<std::pair<unsigned, unsigned>> conflicts_;
  std::vector<unsigned> made_;                               // names that became claimed, oldest first
  std::vector<std::pair<std::size_t, std::size_t>> before_;  // sizes of made_ and conflicts_ before each take
};

// "gcc/12.3" in its name and version: {"gcc", "12.3"}; without a version {"gcc", ""}.
[[nodiscard]] std::pair<std::string, std::string> parts_of_module(const std::string& module);

}  // namespace sabath
