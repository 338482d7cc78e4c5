// Selections come from command lines and recipes: any text is refused as `usage`, or is read, written and read again as
// the same; and its part of any shape lies inside that shape.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "hdf5/selection.h"
#include "sabath/error.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

template <typename Work>
void expect_usage_or(Work work) {
  try {
    work();
  } catch (const sabath::Error& error) {
    check(error.failure().kind == sabath::FailureKind::usage && sabath::is_utf8(error.failure().message));
  }
}

void resolve_in(const sabath::Hyperslab& selection, const std::vector<std::uint64_t>& extents) {
  const auto ranges = sabath::resolve_hyperslab(selection, extents);
  check(ranges.size() == extents.size());
  for (std::size_t a = 0; a < ranges.size(); ++a) {
    const auto& range = ranges[a];
    check(range.step >= 1 && range.count <= extents[a] && (!range.dropped || range.count == 1));
    check(range.begin <= extents[a]);
    if (range.count > 0) check((extents[a] - 1 - range.begin) / range.step >= range.count - 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_usage_or([&] {
    const sabath::Hyperslab selection = sabath::parse_selection(text);
    check(selection.path.starts_with('/') && selection.path.find('\0') == selection.path.npos);
    check(sabath::parse_selection(sabath::format_selection(selection)) == selection);
    for (const auto& extents : {std::vector<std::uint64_t>{}, {1}, {0, 7}, {512, 512, 512, 4}, {UINT64_MAX, 3}}) {
      expect_usage_or([&] { resolve_in(selection, extents); });
    }
  });
  expect_usage_or([&] {
    for (const std::uint64_t extent : sabath::parse_block_shape(text)) check(extent >= 1);
  });
  return 0;
}
