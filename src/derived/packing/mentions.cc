#include "packing/mentions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "packing/tree_copy.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t mentions_told = 5;
constexpr std::uint64_t searched_max = 1 << 20;

}  // namespace

std::optional<std::string> remark_of_mentions(const std::filesystem::path& top, const std::filesystem::path& place) {
  std::vector<std::string> found;
  for_each_packed_file(top, [&](const std::string& path) {
    if (path.ends_with(".pyc") || path.ends_with(".a")) return;
    const auto status = try_lstat(top / path);
    if (!status || static_cast<std::uint64_t>(status->st_size) > searched_max) return;
    const std::string text = try_read_text(top / path, searched_max).value_or("");
    if (text.starts_with("\x7f"
                         "ELF"))
      return;
    if (text.find(place.native() + "/") != std::string::npos) found.push_back(path);
  });
  if (found.empty()) return std::nullopt;
  const std::size_t all = found.size();
  found.resize(std::min(all, mentions_told));
  return fmt::format("{} files still name the old place: {}", all,
                     printable(fmt::format("{}", fmt::join(found, ", ")), 1000));
}

}  // namespace sabath
