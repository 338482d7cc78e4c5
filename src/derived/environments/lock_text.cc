#include "environments/lock_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/text.h"

namespace sabath {
namespace {

constexpr std::string_view own_mark = "# Written by sabath: `sabath env lock` makes it anew.\n";

// In double quotes, for TOML and YAML: both read these escapes.
std::string quoted_text(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      all += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      all += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      all += c;
  }
  return all + '"';
}

std::string file_table(const LockedFile& file) {
  std::string all =
      fmt::format("[[packages.wheels]]\nname = {}\nurl = {}\n", quoted_text(file.name), quoted_text(file.url));
  if (file.size_bytes) all += fmt::format("size = {}\n", *file.size_bytes);
  return all + fmt::format("\n[packages.wheels.hashes]\nsha256 = {}\n", quoted_text(file.sha256));
}

std::string conda_entry(const ChosenPackage& package, const std::string& platform) {
  const bool of_pip = package.manager == PackageManager::python;
  std::string all = fmt::format("- name: {}\n  version: {}\n  manager: {}\n  platform: {}\n", quoted_text(package.name),
                                quoted_text(package.version), of_pip ? "pip" : "conda", platform);
  if (package.dependencies.empty()) {
    all += "  dependencies: {}\n";
  } else {
    all += "  dependencies:\n";
    for (const auto& [name, range] : package.dependencies)
      all += fmt::format("    {}: {}\n", quoted_text(name), quoted_text(range));
  }
  all += fmt::format("  url: {}\n  hash:\n", quoted_text(package.file.url));
  if (!package.file.md5.empty()) all += fmt::format("    md5: {}\n", package.file.md5);
  if (!package.file.sha256.empty()) all += fmt::format("    sha256: {}\n", package.file.sha256);
  return all +
         fmt::format("  category: {}\n  optional: {}\n", quoted_text(package.category), package.category != "main");
}

}  // namespace

std::string pylock_text(std::span<const ChosenPackage> packages, const WheelTarget& target) {
  std::string all(own_mark);
  all += fmt::format(
      "lock-version = \"1.0\"\nenvironments = [\n  {},\n]\nrequires-python = \"=={}.{}.*\"\ncreated-by = \"sabath\"\n",
      quoted_text(fmt::format(
          "platform_machine == '{}' and sys_platform == 'linux' and implementation_name == 'cpython'", target.machine)),
      target.major, target.minor);
  for (const ChosenPackage& package : packages)
    all += fmt::format("\n[[packages]]\nname = {}\nversion = {}\n\n{}", quoted_text(package.name),
                       quoted_text(package.version), file_table(package.file));
  return all + fmt::format("\n[tool.sabath]\npython = {}\nplatform = {}\n{} = {}\n", quoted_text(target.python()),
                           quoted_text(target.machine), target.is_musl ? "musl" : "glibc", quoted_text(target.libc()));
}

std::string conda_lock_text(std::span<const ChosenPackage> packages, std::span<const std::string> channels,
                            const WheelTarget& target) {
  const std::string platform = conda_platform(target);
  std::string entries;
  std::set<std::string> files;
  for (const ChosenPackage& package : packages) {
    entries += conda_entry(package, platform);
    files.insert(package.file.url.substr(package.file.url.rfind('/') + 1));
  }
  std::string all =
      fmt::format("{}version: 1\nmetadata:\n  content_hash:\n    {}: {}\n", own_mark, platform, sha256(entries).hex());
  all += channels.empty() ? "  channels: []\n" : "  channels:\n";
  for (const std::string& channel : channels)
    all += fmt::format("  - url: {}\n    used_env_vars: []\n", quoted_text(channel));
  all += fmt::format("  platforms:\n  - {}\n  sources: []\n", platform);
  return all + (entries.empty() ? "package: []\n" : "package:\n" + entries);
}

bool is_own_lock(std::string_view text) { return text.starts_with(own_mark); }

}  // namespace sabath
