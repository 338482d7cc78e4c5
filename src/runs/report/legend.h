// The legend of a figure: its entries in rows, side by side without touching, and below them what is not drawn. Pure;
// one thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "report/curves.h"
#include "report/svg_canvas.h"

namespace sabath {

class Legend {
 public:
  // Laid out for this width in pixels.
  Legend(const Curves& curves, double width);
  [[nodiscard]] double height() const;
  void draw(SvgCanvas& canvas, double left, double top) const;

 private:
  void place_entries(std::span<const LegendEntry> entries, double width);
  void place_notes(const Curves& curves, double width);

  struct Place {
    LegendEntry entry;  // a note has no colour
    double x = 0;
    std::size_t row = 0;
  };
  std::vector<Place> places_;
  std::size_t rows_ = 0;
};

}  // namespace sabath
