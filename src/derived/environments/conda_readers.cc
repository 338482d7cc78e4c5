// conda's explicit lists (`conda list --explicit`, one URL a line, its digest behind #) and conda-lock.yml, version 1.
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "environments/lock_entries.h"
#include "environments/package_name.h"
#include "environments/python_version.h"
#include "environments/readers.h"
#include "environments/yaml_tree.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {
namespace {

constexpr std::array<std::string_view, 11> conda_platforms{
    "noarch",       "linux-64",      "linux-32", "linux-aarch64", "linux-ppc64le",    "linux-s390x",
    "linux-armv7l", "linux-riscv64", "osx-64",   "osx-arm64",     "linux-loongarch64"};

// ".../linux-64/numpy-2.1.0-py311h_0.conda": name, version, and the platform of the folder.
LockedPackage conda_package(LockedFile file, std::string_view origin, std::size_t line) {
  LockedPackage package;
  package.manager = PackageManager::conda;
  package.place = place_of(origin, line);
  std::string_view stem = file.name;
  if (stem.ends_with(".conda"))
    stem.remove_suffix(6);
  else if (stem.ends_with(".tar.bz2"))
    stem.remove_suffix(8);
  else
    throw_at(origin, line, fmt::format("is no package of conda: {}", printable(file.name)));
  const std::size_t build = stem.rfind('-');
  const std::size_t version = build == std::string_view::npos || build == 0 ? build : stem.rfind('-', build - 1);
  if (version == std::string_view::npos || version == 0 || build == 0)
    throw_at(origin, line, fmt::format("is not named NAME-VERSION-BUILD: {}", printable(file.name)));
  package.name = stem.substr(0, version);
  package.version = stem.substr(version + 1, build - version - 1);
  if (!is_conda_name(package.name) || !is_conda_version(package.version) || !is_conda_version(stem.substr(build + 1)))
    throw_at(origin, line, fmt::format("is not named NAME-VERSION-BUILD: {}", printable(file.name)));
  const Url url = Url::parse(file.url);
  std::string_view path = url.path();
  path.remove_suffix(path.size() - path.rfind('/'));
  package.platform = path.substr(path.rfind('/') + 1);
  if (!is_among(package.platform, conda_platforms))
    throw_at(origin, line, fmt::format("lies in no folder of a platform: {}", printable_url(file.url)));
  package.files.push_back(std::move(file));
  return package;
}

void refuse_second(const LockedPackage& package, std::map<std::string, std::string>& seen, const std::string& key) {
  const auto [first, is_new] = seen.emplace(key, package.place);
  if (!is_new)
    throw Error(FailureKind::invalid,
                fmt::format("{}: {} appears twice, first in {}", package.place, package.name, first->second),
                "each package once for a platform");
}

void read_explicit_digest(std::string_view digest, LockedFile& file, std::string_view origin, std::size_t line) {
  if (digest.empty()) return;
  if (digest.starts_with("sha256:"))
    file.sha256 = digest_digits(digest.substr(7), 64, origin, line);
  else if (digest.size() == 64)
    file.sha256 = digest_digits(digest, 64, origin, line);
  else
    file.md5 = digest_digits(digest.starts_with("md5:") ? digest.substr(4) : digest, 32, origin, line);
}

LockedPackage pip_package(JsonObject& object, const std::string& url, std::string_view origin) {
  LockedPackage package = python_package(object, origin);
  package.files.push_back(web_file(url, origin, object.line()));
  if (!package.files[0].name.ends_with(".whl")) package.instead = "an archive, whose build would run code";
  return package;
}

LockedPackage conda_lock_package(JsonObject& object, std::string_view origin) {
  const std::string manager = object.text("manager"), url = object.text("url");
  if (manager != "conda" && manager != "pip")
    object.fail("manager", fmt::format("is {}: conda or pip", printable(manager)));
  LockedPackage package = manager == "pip" ? pip_package(object, url, origin)
                                           : conda_package(web_file(url, origin, object.line()), origin, object.line());
  if (manager == "conda" && (object.text("name") != package.name || object.text("version") != package.version))
    object.fail("url",
                fmt::format("is not of {} {}", printable(object.text("name")), printable(object.text("version"))));
  const std::string platform = object.text("platform");
  if (package.platform != "noarch" && manager == "conda" && package.platform != platform)
    object.fail("url", fmt::format("is not of the platform {}", printable(platform)));
  package.platform = platform;
  LockedFile& file = package.files[0];
  if (auto hash = object.try_object("hash", "a hash")) {
    if (const auto md5 = hash->try_text("md5")) file.md5 = digest_digits(*md5, 32, origin, hash->line());
    if (const auto sha256 = hash->try_text("sha256")) file.sha256 = digest_digits(*sha256, 64, origin, hash->line());
  }
  if (auto dependencies = object.try_object("dependencies", "dependencies"))
    for (const JsonMember& member : dependencies->members())
      package.dependencies.emplace_back(member.key,
                                        member.value.is_null() ? "" : checked_text(member.value, origin, member.key));
  package.category = object.try_text("category").value_or("main");
  return package;
}

// Packages that stand for what a machine has, "__glibc": older files of conda-lock list them.
bool is_virtual(JsonObject& object) {
  const auto name = object.try_text("name");
  return name && name->starts_with("__");
}

bool is_virtual(std::string_view line) {
  const std::string_view url = line.substr(0, line.find('#'));
  return url.starts_with("file:///") && url.substr(url.rfind('/') + 1).starts_with("__");
}

}  // namespace

EnvironmentLock read_conda_explicit(std::string_view text, const std::string& origin) {
  if (text.size() > lock_text_max) throw_at(origin, 1, fmt::format("longer than {}", format_bytes(lock_text_max)));
  EnvironmentLock lock;
  lock.origin = origin;
  std::map<std::string, std::string> seen;
  bool is_explicit = false;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (line == "@EXPLICIT") {
      is_explicit = true;
      continue;
    }
    if (!is_explicit) throw_at(origin, number, "comes before @EXPLICIT");
    if (is_virtual(line)) continue;
    const std::size_t mark = line.find('#');
    LockedFile file = web_file(std::string(line.substr(0, mark)), origin, number);
    if (mark != std::string_view::npos) read_explicit_digest(line.substr(mark + 1), file, origin, number);
    lock.packages.push_back(conda_package(std::move(file), origin, number));
    refuse_second(lock.packages.back(), seen, lock.packages.back().name);
    check_package_count(lock.packages.size(), 0, origin);
  }
  if (!is_explicit) throw_at(origin, 1, "has no line @EXPLICIT");
  return lock;
}

EnvironmentLock read_conda_lock(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_yaml_tree(text, origin, {.size_max = lock_text_max});
  JsonObject object(root, origin, "a lock");
  if (object.text("version") != "1") object.fail("version", "is not 1, the one that is read");
  EnvironmentLock lock;
  lock.origin = origin;
  if (auto metadata = object.try_object("metadata", "metadata")) {
    if (const auto* const channels = metadata->try_array("channels"))
      for (const JsonValue& value : *channels)
        lock.channels.push_back(JsonObject(value, origin, "a channel").text("url"));
  }
  const JsonValue::Array* const packages = object.try_array("package");
  if (packages == nullptr) object.fail("package", "is missing");
  check_package_count(packages->size(), packages->size(), origin);
  std::map<std::string, std::string> seen;
  for (const JsonValue& value : *packages) {
    JsonObject entry(value, origin, "a package");
    if (is_virtual(entry)) continue;
    lock.packages.push_back(conda_lock_package(entry, origin));
    const LockedPackage& added = lock.packages.back();
    refuse_second(
        added, seen,
        fmt::format("{} {} {} {}", added.manager == PackageManager::conda, added.name, added.platform, added.category));
  }
  return lock;
}

}  // namespace sabath
