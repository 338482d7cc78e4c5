// Whether modules that go together are loaded by their list, too, one after the other: a module that is in two places
// of a hierarchy comes from the place that was added last, and Lmod loads it anew when another place is added. Pure;
// one thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "software/claims.h"

namespace sabath {

class LoadingOrder {
 public:
  LoadingOrder(ClaimBook& book, std::size_t work_max) : book_(&book), work_max_(work_max) {}

  // Of rows of the book's table, in their order. Empty: all are loaded, and each is what its row says. With more work
  // than its bound it is not known.
  [[nodiscard]] std::string why_not(const std::vector<std::size_t>& rows);
  [[nodiscard]] std::size_t work() const noexcept { return work_; }

 private:
  struct Loaded {
    std::size_t row = 0, place = 0;  // the first has place 1
  };
  [[nodiscard]] std::string why_not_next(std::size_t row, const std::vector<std::size_t>& rows);
  [[nodiscard]] std::string why_replaced(std::size_t row);
  [[nodiscard]] bool is_in_several_places(std::size_t row);
  [[nodiscard]] bool is_here(std::size_t row, std::string_view need);
  [[nodiscard]] bool brings(std::size_t row, const std::string& need, const std::vector<std::size_t>& rows);
  [[nodiscard]] bool is_reached(std::size_t row);
  [[nodiscard]] bool is_reached_elsewhere(std::size_t row);
  [[nodiscard]] bool does_as_well(std::size_t row, std::size_t other);
  [[nodiscard]] std::size_t place_of(std::size_t row) const;  // of what added its directory; 0: it was there before

  ClaimBook* book_;
  std::map<std::string_view, Loaded> loaded_;  // by module
  std::map<std::string_view, bool> in_several_places_;
  std::size_t work_ = 0, work_max_;
};

}  // namespace sabath
