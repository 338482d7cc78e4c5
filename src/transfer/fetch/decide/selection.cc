#include "fetch/decide/selection.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/split.h"
#include "base/wording.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t patterns_max = 1000;
constexpr std::size_t pattern_length_max = 4095;
constexpr char leaves_out = '!';  // in front of a pattern

}  // namespace

void check_selection(const Selection& selection) {
  if (selection.sample == std::uint64_t{0})
    throw Error(FailureKind::usage, option_text("sample") + " 0 asks for nothing",
                fmt::format("give a number of files, e.g. {} 64", option_text("sample")));
  if (selection.select.size() > patterns_max)
    throw Error(FailureKind::usage, fmt::format("more than {} patterns of {}", patterns_max, option_text("select")));
  for (const auto& pattern : selection.select) {
    const auto parts = parts_at(pattern.substr(pattern.starts_with(leaves_out) ? 1 : 0), '/');
    const bool path = std::none_of(parts.begin(), parts.end(),
                                   [](const std::string& p) { return p.empty() || p == "." || p == ".."; });
    if (path && pattern.size() <= pattern_length_max && pattern.find('\0') == std::string::npos) continue;
    throw Error(FailureKind::usage,
                fmt::format("{} {} matches no path of an asset", option_text("select"), printable(pattern)),
                "patterns are relative to the asset, e.g. 'train/*.h5' or '**/*.h5'");
  }
}

bool selects(const Selection& selection, const RelativePath& path) {
  return selects(selection, std::string_view(path.text()));
}

bool selects(const Selection& selection, std::string_view name) {
  bool asked = false, matched = false;
  for (const std::string_view pattern : selection.select) {
    if (pattern.starts_with(leaves_out)) {
      if (glob_matches(pattern.substr(1), name)) return false;
      continue;
    }
    asked = true;
    matched = matched || glob_matches(pattern, name);
  }
  return matched || !asked;
}

void add_selected(ManifestBuilder& builder, const Manifest& whole, const Selection& selection) {
  whole.for_each([&](const Entry& entry) {
    if (entry.type == EntryType::directory || !selects(selection, entry.path)) return;
    if (entry.type == EntryType::symlink)
      builder.add_symlink(entry.path, entry.target);
    else
      builder.add_file(entry.path, entry.digest, whole.chunks(entry), entry.type == EntryType::executable);
  });
}

std::string to_text(const Selection& selection) {
  const std::string patterns = fmt::format("{}", fmt::join(selection.select, ", "));
  if (!selection.sample) return patterns;
  const std::string first = fmt::format("the first {}", *selection.sample);
  return patterns.empty() ? first : fmt::format("{} of {}", first, patterns);
}

}  // namespace sabath
