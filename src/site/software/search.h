// One row for each need, and one for each thing that a chosen row needs in turn, so that all go together. Depth first,
// the first candidate of the first need before all others; a need that cannot be met leads back to the one that is in
// its way, so that needs that have nothing to do with each other are not tried in all combinations. Pure; one thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "software/claims.h"
#include "software/loading.h"
#include "software/solve.h"

namespace sabath {

class SoftwareSearch {
 public:
  static constexpr std::size_t work_max = 40'000'000;  // looks at one claim: about a second
  using Candidates = std::vector<SoftwarePick>;
  // Called where a need, by its place, has no candidate that goes with the first `taken` of the others.
  using Dead = std::function<void(std::size_t taken, std::size_t need)>;

  SoftwareSearch(ClaimBook& book, std::vector<Candidates> candidates, Dead dead)
      : book_(&book),
        candidates_(std::move(candidates)),
        state_(book),
        order_(book, work_max),
        dead_(std::move(dead)) {}

  [[nodiscard]] bool first();  // false: there is none, or the work is at its bound
  [[nodiscard]] bool next();   // another choice for the needs
  [[nodiscard]] bool is_at_bound() const;
  [[nodiscard]] std::vector<SoftwarePick> picks() const;  // one for each need, as far as they are taken
  // Why a choice for the needs came to nothing, by what it brings along; empty: none did.
  [[nodiscard]] const std::string& why_not_loaded() const noexcept { return not_loaded_; }
  [[nodiscard]] std::vector<std::size_t> rows();  // all that is loaded, each after what it needs
  [[nodiscard]] std::optional<SoftwareClash> clash_of(std::size_t row) {
    return state_.clash_with(book_->claims_of(row));
  }

 private:
  struct Level {
    const Candidates* candidates = nullptr;
    std::size_t at = 0;
    std::set<unsigned> blame;  // levels that exclude what was passed over
    bool is_taken = false;
    std::string need = {};  // of a chosen row: what this level is for
    std::size_t by = 0;     // that row
  };
  [[nodiscard]] bool search();
  [[nodiscard]] bool add_level();
  [[nodiscard]] bool take_next();
  [[nodiscard]] bool jump_back();
  [[nodiscard]] bool later_needs_fit(Level& level, unsigned depth);
  void open_again(Level& level);
  [[nodiscard]] bool is_loaded_so();
  void open_last_again();
  [[nodiscard]] bool is_met(const std::string& need);
  [[nodiscard]] bool has_parents(std::size_t row, const std::vector<std::size_t>& loaded);
  [[nodiscard]] std::vector<std::size_t> wanted_before(std::size_t row);

  ClaimBook* book_;
  std::vector<Candidates> candidates_;
  ClaimState state_;
  LoadingOrder order_;
  std::string not_loaded_;
  Dead dead_;
  std::deque<Level> levels_;
  std::map<std::string, Candidates> of_open_;  // candidates of needs of chosen rows
};

}  // namespace sabath
