#include "hdf5/extract.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "hdf5/elements.h"
#include "hdf5/pick.h"
#include "hdf5/source.h"
#include "hdf5/type.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using namespace h5;

constexpr std::uint64_t slab_bytes_max = 32 << 20;
constexpr std::size_t extract_cache_bytes = 128 << 20;

std::string numpy_descr(const Type& type, std::string_view name) {
  const bool whole = type.size == 1 || type.size == 2 || type.size == 4 || type.size == 8;
  if (type.is_boolean()) return "|b1";
  if (type.kind == Type::Kind::enumeration) return numpy_descr(type.base.at(0), name);
  if (type.kind == Type::Kind::integer && whole)
    return fmt::format("{}{}{}", type.size == 1 ? '|' : '<', type.is_signed ? 'i' : 'u', type.size);
  if (type.kind == Type::Kind::floating && whole && type.size > 1 &&
      canonical(type, name) == fmt::format("f{}", type.size))
    return fmt::format("<f{}", type.size);
  if (type.kind == Type::Kind::string && !type.variable) return fmt::format("|S{}", type.size);
  throw Error(FailureKind::usage, fmt::format("cannot take the elements of {}: its type is {}", name, describe(type)),
              "name a dataset of numbers, or of text of a fixed length");
}

// The selection in C order, box by box: along one axis several places, of the axes behind it all.
class Extraction {
 public:
  Extraction(const Dataset& source, const std::vector<AxisRange>& ranges, hid_t memory_type)
      : source_(source),
        ranges_(ranges),
        memory_type_(memory_type),
        element_bytes_(H5Tget_size(memory_type)),
        elements_(memory_type, element_bytes_, false),
        space_(own(H5Dget_space(source.id.get()), H5Sclose, "read the shape of", source.name)),
        place_(ranges.size()) {
    std::uint64_t bytes = element_bytes_;
    axis_ = ranges.size();
    while (axis_ > 0 && span(ranges[axis_ - 1], ranges[axis_ - 1].count) <= slab_bytes_max / bytes) {
      --axis_;
      bytes *= span(ranges[axis_], ranges[axis_].count);
    }
    if (axis_ == 0) return;
    const std::uint64_t room = std::max<std::uint64_t>(slab_bytes_max / bytes, 1);
    places_ = (room - 1) / ranges[axis_ - 1].step + 1;
  }

  void write(int fd, std::uint64_t offset, const std::filesystem::path& name, const std::function<void()>& alive) {
    bool more = true;
    while (more) {
      alive();
      const std::span<const std::byte> bytes = read_slab();
      write_all_at(fd, bytes, offset, name);
      offset += bytes.size();
      more = advance();
    }
  }

 private:
  static std::uint64_t span(const AxisRange& range, std::uint64_t count) { return (count - 1) * range.step + 1; }

  [[nodiscard]] std::uint64_t count_of(std::size_t axis) const {
    if (axis >= axis_) return ranges_[axis].count;
    return axis + 1 == axis_ ? std::min(places_, ranges_[axis].count - place_[axis]) : 1;
  }

  std::span<const std::byte> read_slab() {
    Box box;
    Dims step, count, begin(ranges_.size());
    for (std::size_t a = 0; a < ranges_.size(); ++a) {
      box.begin.push_back(ranges_[a].begin + place_[a] * ranges_[a].step);
      count.push_back(count_of(a));
      step.push_back(ranges_[a].step);
      box.extent.push_back(span(ranges_[a], count.back()));
    }
    elements_.resize(box.count());
    read_box(source_, box, memory_type_, space_.get(), elements_.data());
    const Pick plan = make_pick(box.extent, begin, step, count, element_bytes_);
    std::uint64_t bytes = element_bytes_;
    for (const std::uint64_t one : count) bytes *= one;
    if (plan.contiguous()) return {elements_.data() + plan.offset_bytes, bytes};
    picked_.resize(bytes);
    pick(plan, elements_.data(), picked_.data());
    return picked_;
  }

  bool advance() {
    for (std::size_t a = axis_; a-- > 0;) {
      place_[a] += count_of(a);
      if (place_[a] < ranges_[a].count) return true;
      place_[a] = 0;
    }
    return false;
  }

  const Dataset& source_;
  const std::vector<AxisRange>& ranges_;
  hid_t memory_type_;
  std::size_t element_bytes_;
  Elements elements_;
  Handle space_;
  std::size_t axis_ = 0;      // axes from here on are whole in a slab
  std::uint64_t places_ = 1;  // on the axis before it
  Dims place_;
  std::vector<std::byte> picked_;
};

}  // namespace

Extracted extract_into(const std::filesystem::path& path, const Hyperslab& selection, const std::filesystem::path& out,
                       std::uint64_t offset, const std::function<void()>& on_progress) {
  const Source source(path);
  const Dataset dataset = open_dataset(source, selection.path, extract_cache_bytes);
  if (dataset.shape.kind == H5S_NULL) throw Error(FailureKind::usage, fmt::format("{} has no data", dataset.name));
  const std::vector<AxisRange> ranges = resolve_hyperslab(selection, dataset.shape.dims);
  Extracted result{numpy_descr(parse_type(dataset.type.get(), dataset.name), dataset.name), {}, 0};
  const Handle memory = canonical_memory_type(dataset.type.get(), dataset.name);
  result.bytes = H5Tget_size(memory.get());
  for (const AxisRange& range : ranges) {
    result.bytes = product(result.bytes, range.count, dataset.name);
    if (!range.dropped) result.shape.push_back(range.count);
  }
  if (out.empty() || result.bytes == 0) return result;
  Fd fd = open_file(out, O_WRONLY);
  Extraction(dataset, ranges, memory.get()).write(fd.get(), offset, out, on_progress);
  close_file(std::move(fd), out);
  return result;
}

}  // namespace sabath
