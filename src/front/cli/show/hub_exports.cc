#include "cli/show/hub_exports.h"

#include <fmt/format.h>

namespace sabath::cli {
namespace {

std::string quoted(const std::string& text) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-,:=@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string all = "'";
  for (const char c : text) all += c == '\'' ? "'\\''" : std::string(1, c);
  return all + "'";
}

}  // namespace

std::string hub_exports(const std::filesystem::path& cache) {
  return fmt::format("export HF_HUB_CACHE={} HF_HUB_OFFLINE=1", quoted(cache.native()));
}

}  // namespace sabath::cli
