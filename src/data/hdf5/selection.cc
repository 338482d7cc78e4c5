#include "hdf5/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t selection_text_max = 4096, indices_max = 32, extents_max = 32;
constexpr std::string_view escaped = "\\[]";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    if (text.size() > selection_text_max) fail(fmt::format("it is longer than {} bytes", selection_text_max));
  }

  Hyperslab selection() {
    Hyperslab result;
    result.path = path();
    if (at_end()) return result;
    result.whole = false;
    expect('[');
    do {
      add(result, index());
    } while (take(','));
    expect(']');
    spaces();
    if (!at_end()) fail("nothing may follow the bracket");
    return result;
  }

  std::vector<std::uint64_t> block_shape() {
    std::vector<std::uint64_t> extents;
    do {
      const std::int64_t extent = number();
      if (extent < 1) fail("an extent is at least 1");
      if (extents.size() == extents_max) fail("it has too many axes");
      extents.push_back(static_cast<std::uint64_t>(extent));
    } while (take(','));
    if (!at_end()) fail("numbers with commas between them are expected");
    return extents;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(FailureKind::usage, fmt::format("'{}', at character {}: {}", printable(text_), at_ + 1, what),
                "for example full[:,:,:,0] or group/x[10:20:2, ...] or physPar; docs/hdf5.md has the grammar");
  }

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  void spaces() {
    while (!at_end() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    spaces();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}' is expected", c));
  }

  // Empty components and a leading or trailing '/' do not count, as in HDF5 itself; "." and ".." are not in its grammar
  // and would only mislead.
  std::string path() {
    std::string path, component;
    const auto end_component = [&] {
      if (component == "." || component == "..") fail("'.' and '..' mean nothing in an HDF5 path");
      if (!component.empty()) path += "/" + component;
      component.clear();
    };
    for (; !at_end() && text_[at_] != '['; ++at_) {
      char c = text_[at_];
      if (c == ']') fail("']' without '['; write \\] if it is part of the name");
      if (c == '\0') fail("a name has no NUL");
      if (c == '/') {
        end_component();
        continue;
      }
      if (c == '\\') {
        if (at_ + 1 == text_.size() || escaped.find(text_[at_ + 1]) == escaped.npos) {
          fail("a backslash is allowed before [ ] or another backslash only");
        }
        c = text_[++at_];
      }
      component += c;
    }
    end_component();
    if (!path.empty()) return path;
    if (at_ == 0 || text_[0] != '/') fail("the path of a dataset or group is expected");
    return "/";
  }

  std::int64_t number() {
    spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("the number is too large");
    if (error != std::errc()) fail("a number, ':' or '...' is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
    spaces();
    return value;
  }

  [[nodiscard]] bool number_ahead() {
    spaces();
    return !at_end() && text_[at_] != ':' && text_[at_] != ',' && text_[at_] != ']';
  }

  HyperslabIndex index() {
    spaces();
    if (text_.substr(at_).starts_with("...")) {
      at_ += 3;
      return {};
    }
    HyperslabIndex index{HyperslabIndex::Kind::range, {}, {}, 1};
    if (number_ahead()) index.start = number();
    if (!take(':')) {
      if (!index.start) fail("a number, ':' or '...' is expected");
      index.kind = HyperslabIndex::Kind::one;
      return index;
    }
    if (number_ahead()) index.stop = number();
    if (take(':') && number_ahead()) index.step = number();
    if (index.step < 1) fail("a step is at least 1");
    return index;
  }

  void add(Hyperslab& selection, const HyperslabIndex& index) {
    const auto is_all = [](const HyperslabIndex& i) { return i.kind == HyperslabIndex::Kind::all; };
    if (is_all(index) && std::ranges::any_of(selection.indices, is_all)) fail("'...' is allowed once only");
    if (selection.indices.size() == indices_max) fail("it has too many indices");
    selection.indices.push_back(index);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t clip(std::int64_t index, std::int64_t extent) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(index < 0 ? index + extent : index, 0, extent));
}

AxisRange resolve_axis(const HyperslabIndex& index, std::uint64_t extent, std::size_t axis, const std::string& text) {
  const auto length = static_cast<std::int64_t>(std::min<std::uint64_t>(extent, INT64_MAX));
  if (index.kind == HyperslabIndex::Kind::one) {
    const std::int64_t at = *index.start < 0 ? *index.start + length : *index.start;
    if (at < 0 || at >= length) {
      throw Error(FailureKind::usage, fmt::format("'{}': index {} of axis {} is out of bounds: it has {} elements",
                                                  printable(text), *index.start, axis, extent));
    }
    return {static_cast<std::uint64_t>(at), 1, 1, true};
  }
  const std::uint64_t begin = clip(index.start.value_or(0), length), end = clip(index.stop.value_or(length), length);
  const auto step = static_cast<std::uint64_t>(index.step);
  return {begin, end > begin ? (end - begin - 1) / step + 1 : 0, step, false};
}

}  // namespace

Hyperslab parse_selection(std::string_view text) { return Parser(text).selection(); }

std::vector<std::uint64_t> parse_block_shape(std::string_view text) { return Parser(text).block_shape(); }

std::string format_selection(const Hyperslab& selection) {
  std::string text;
  for (const char c : std::string_view(selection.path).substr(selection.path == "/" ? 0 : 1)) {
    if (escaped.find(c) != escaped.npos) text += '\\';
    text += c;
  }
  if (selection.whole) return text;
  text += "[";
  for (const HyperslabIndex& index : selection.indices) {
    if (text.back() != '[') text += ",";
    if (index.kind == HyperslabIndex::Kind::all) {
      text += "...";
      continue;
    }
    if (index.start) text += fmt::format("{}", *index.start);
    if (index.kind == HyperslabIndex::Kind::one) continue;
    text += ":";
    if (index.stop) text += fmt::format("{}", *index.stop);
    if (index.step != 1) text += fmt::format(":{}", index.step);
  }
  return text + "]";
}

std::vector<AxisRange> resolve_hyperslab(const Hyperslab& selection, std::span<const std::uint64_t> extents) {
  std::vector<HyperslabIndex> indices = selection.indices;
  const auto all = std::ranges::find(indices, HyperslabIndex{});
  const std::size_t given = indices.size() - (all != indices.end() ? 1 : 0);
  if (given > extents.size()) {
    throw Error(FailureKind::usage, fmt::format("'{}' has {} indices, and the dataset {} axes",
                                                printable(format_selection(selection)), given, extents.size()));
  }
  const HyperslabIndex everything{HyperslabIndex::Kind::range, {}, {}, 1};
  const auto at = all - indices.begin();
  if (all != indices.end()) indices.erase(all);
  indices.insert(indices.begin() + at, extents.size() - given, everything);
  std::vector<AxisRange> ranges;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    ranges.push_back(resolve_axis(indices[axis], extents[axis], axis, format_selection(selection)));
  }
  return ranges;
}

}  // namespace sabath
