#include "hdf5/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/wording.h"
#include "hdf5/elements.h"
#include "hdf5/pick.h"
#include "hdf5/type.h"

namespace sabath::h5 {
namespace {

constexpr std::uint64_t rows_tile_bytes = 4 << 20;      // rows that were just read are picked from the CPU's cache
constexpr std::uint64_t variable_tile_bytes = 1 << 20;  // of elements with parts of unknown size

Box intersection(const Box& a, const Box& b) {
  Box result;
  for (std::size_t i = 0; i < a.begin.size(); ++i) {
    const std::uint64_t begin = std::max(a.begin[i], b.begin[i]);
    const std::uint64_t end = std::min(a.begin[i] + a.extent[i], b.begin[i] + b.extent[i]);
    result.begin.push_back(begin);
    result.extent.push_back(end > begin ? end - begin : 0);
  }
  return result;
}

class Stream {
 public:
  Stream(const Dataset& source, const std::vector<AxisRange>& ranges, const Grid& grid,
         const std::function<std::unique_ptr<Piece>(std::uint64_t)>& open)
      : source_(source),
        ranges_(ranges),
        grid_(grid),
        open_(open),
        memory_type_(own(H5Tcopy(source.type.get()), H5Tclose, "copy the type of", source.name)),
        element_bytes_(H5Tget_size(memory_type_.get())),
        variable_(parse_type(source.type.get(), source.name).is_variable()),
        elements_(memory_type_.get(), element_bytes_, variable_),
        space_(own(H5Dget_space(source.id.get()), H5Sclose, "read the shape of", source.name)) {}

  Streamed run(const SelectOptions& options) {
    Tiles tiles(plan(options.buffer_bytes));
    while (const std::optional<Box> tile = tiles.next()) {
      options.on_progress();
      if (options.stop.stop_requested())
        throw Error(FailureKind::interrupted, fmt::format("interrupted in {}", source_.name));
      const Box selected = tiles.selected(*tile);
      if (selected.count() == 0) continue;
      read(*tile);
      for (const std::uint64_t block : grid_.meeting(selected)) write(*tile, selected, block);
      finish_before(selected.begin.empty() ? 0 : selected.begin[0]);
    }
    while (!pieces_.empty()) finish(pieces_.begin());
    return streamed_;
  }

 private:
  using Pieces = std::map<std::uint64_t, std::unique_ptr<Piece>>;

  [[nodiscard]] TilePlan plan(std::uint64_t buffer_bytes) const {
    TilePlan plan;
    plan.extents = source_.shape.dims;
    plan.rows = source_.storage != Storage::chunked;
    plan.unit = plan.rows ? Dims(plan.extents.size(), 1) : source_.chunk;
    plan.element_bytes = element_bytes_;
    plan.ranges = ranges_;
    plan.tile_bytes = std::min(buffer_bytes, variable_   ? variable_tile_bytes
                                             : plan.rows ? rows_tile_bytes
                                                         : buffer_bytes);
    return plan;
  }

  void read(const Box& tile) {
    elements_.resize(tile.count());
    read_box(source_, tile, memory_type_.get(), space_.get(), elements_.data());
    streamed_.bytes_read += tile.count() * element_bytes_;
  }

  void write(const Box& tile, const Box& selected, std::uint64_t block) {
    const Box whole = grid_.box(block), part = intersection(selected, whole);
    if (part.count() == 0) return;
    std::unique_ptr<Piece>& piece = pieces_[block];
    if (!piece) piece = open_(block);
    const std::byte* data = picked(tile, part);
    Box target;
    for (std::size_t a = 0; a < ranges_.size(); ++a) {
      if (ranges_[a].dropped) continue;
      target.begin.push_back(part.begin[a] - whole.begin[a]);
      target.extent.push_back(part.extent[a]);
    }
    const Handle file_space = make_space(grid_.extents(whole), source_.name);
    select_box(file_space.get(), target.begin, target.extent, source_.name);
    const Handle memory = make_space(target.extent, source_.name);
    checked(H5Dwrite(piece->dataset(), memory_type_.get(), memory.get(), file_space.get(), H5P_DEFAULT, data),
            "write the selection of", source_.name, FailureKind::storage);
    streamed_.bytes_selected += part.count() * element_bytes_;
  }

  // The part's elements one after the other: where they stand already, or picked.
  const std::byte* picked(const Box& tile, const Box& part) {
    Dims begin, step;
    for (std::size_t a = 0; a < ranges_.size(); ++a) {
      begin.push_back(ranges_[a].begin + part.begin[a] * ranges_[a].step - tile.begin[a]);
      step.push_back(ranges_[a].step);
    }
    const Pick plan = make_pick(tile.extent, begin, step, part.extent, element_bytes_);
    if (plan.contiguous()) return elements_.data() + plan.offset_bytes;
    picked_.resize(std::max<std::size_t>(picked_.size(), part.count() * element_bytes_));
    pick(plan, elements_.data(), picked_.data());
    return picked_.data();
  }

  // Tiles come in the order of the first axis: blocks that end at or before `number` on it are complete.
  void finish_before(std::uint64_t number) {
    for (auto piece = pieces_.begin(); piece != pieces_.end();) {
      const Box box = grid_.box(piece->first);
      const bool whole = !box.begin.empty() && box.begin[0] + box.extent[0] <= number;
      piece = whole ? finish(piece) : std::next(piece);
    }
  }

  Pieces::iterator finish(Pieces::iterator piece) {
    piece->second->finish();
    return pieces_.erase(piece);
  }

  const Dataset& source_;
  const std::vector<AxisRange>& ranges_;
  const Grid& grid_;
  const std::function<std::unique_ptr<Piece>(std::uint64_t)>& open_;
  Handle memory_type_;
  std::size_t element_bytes_;
  bool variable_;
  Elements elements_;
  Handle space_;
  std::vector<std::byte> picked_;
  Pieces pieces_;
  Streamed streamed_;
};

}  // namespace

Grid::Grid(const std::vector<AxisRange>& ranges, const std::vector<std::uint64_t>& blocks) : ranges_(ranges) {
  std::size_t next = 0;
  const auto kept = static_cast<std::size_t>(std::ranges::count(ranges, false, &AxisRange::dropped));
  if (!blocks.empty() && blocks.size() != kept) {
    throw Error(
        FailureKind::usage,
        fmt::format("{} has {} extents, and the selection has {} axes", option_text("blocks"), blocks.size(), kept),
        "an index that is a number drops its axis");
  }
  std::uint64_t total = 1;
  for (const AxisRange& range : ranges) {
    block_.push_back(range.dropped || blocks.empty() ? std::max<std::uint64_t>(range.count, 1) : blocks[next++]);
    blocks_.push_back(range.count / block_.back() + (range.count % block_.back() != 0 ? 1 : 0));
    if (!__builtin_mul_overflow(total, blocks_.back(), &total) && total <= blocks_max) continue;
    throw Error(FailureKind::usage,
                fmt::format("{} would make more than {} blocks", option_text("blocks"), blocks_max));
  }
}

std::uint64_t Grid::count() const {
  std::uint64_t count = 1;
  for (const std::uint64_t blocks : blocks_) count *= blocks;
  return count;
}

std::uint64_t Grid::open_max() const { return blocks_.empty() || blocks_[0] == 0 ? count() : count() / blocks_[0]; }

std::uint64_t Grid::index(const std::vector<std::uint64_t>& place) const {
  std::uint64_t index = 0;
  for (std::size_t a = 0; a < place.size(); ++a) index = index * blocks_[a] + place[a];
  return index;
}

Box Grid::box(std::uint64_t index) const {
  Box box{std::vector<std::uint64_t>(ranges_.size()), std::vector<std::uint64_t>(ranges_.size())};
  for (std::size_t a = ranges_.size(); a-- > 0; index /= std::max<std::uint64_t>(blocks_[a], 1)) {
    box.begin[a] = blocks_[a] == 0 ? 0 : index % blocks_[a] * block_[a];
    box.extent[a] = std::min(block_[a], ranges_[a].count - box.begin[a]);
  }
  return box;
}

Dims Grid::extents(const Box& box) const {
  Dims extents;
  for (std::size_t a = 0; a < ranges_.size(); ++a) {
    if (!ranges_[a].dropped) extents.push_back(box.extent[a]);
  }
  return extents;
}

std::vector<std::uint64_t> Grid::meeting(const Box& selected) const {
  std::vector<std::uint64_t> first, place, result;
  for (std::size_t a = 0; a < ranges_.size(); ++a) first.push_back(selected.begin[a] / block_[a]);
  place = first;
  for (;;) {
    result.push_back(index(place));
    std::size_t a = place.size();
    while (a-- > 0) {
      if (++place[a] * block_[a] < selected.begin[a] + selected.extent[a]) break;
      place[a] = first[a];
    }
    if (a > place.size()) return result;  // wrapped: every axis has come round
  }
}

Streamed stream(const Dataset& source, const std::vector<AxisRange>& ranges, const Grid& grid,
                const SelectOptions& options, const std::function<std::unique_ptr<Piece>(std::uint64_t block)>& open) {
  return Stream(source, ranges, grid, open).run(options);
}

}  // namespace sabath::h5
