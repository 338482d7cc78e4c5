// pylock.toml (PEP 751) of pip, uv and others: https://packaging.python.org/en/latest/specifications/pylock-toml/.
#include <fmt/format.h>

#include <set>

#include <optional>
#include <utility>

#include "base/text.h"
#include "environments/lock_entries.h"
#include "environments/package_name.h"
#include "environments/readers.h"
#include "environments/toml.h"
#include "environments/wheel_name.h"
#include "sabath/path.h"

namespace sabath {
namespace {

// Of a wheel, or an archive: nullopt where it has a path instead of a URL.
std::optional<LockedFile> pylock_file(JsonObject& entry, std::string_view origin) {
  const auto url = entry.try_text("url");
  if (!url) {
    if (!entry.try_text("path")) entry.fail("url", "is missing, and so is \"path\"");
    return std::nullopt;
  }
  LockedFile file = web_file(*url, origin, entry.line());
  if (auto name = entry.try_text("name")) file.name = std::move(*name);
  file.size_bytes = entry.try_uint("size");
  if (auto hashes = entry.try_object("hashes", "hashes")) {
    std::set<std::string> algorithms;
    for (const JsonMember& member : hashes->members()) {
      if (!algorithms.insert(to_lower(member.key)).second)
        throw_at(origin, member.line, fmt::format("has two hashes of {}", printable(member.key)));
      const std::string& digits = checked_text(member.value, origin, member.key);
      if (!take_digest(to_lower(member.key) + ":" + digits, file))
        throw_at(origin, member.line, fmt::format("is no digest of {}", printable(member.key)));
    }
  }
  return file;
}

void read_wheels(JsonObject& object, std::string_view origin, LockedPackage& package) {
  const JsonValue::Array* const wheels = object.try_array("wheels");
  if (wheels == nullptr) return;
  for (const JsonValue& value : *wheels) {
    JsonObject entry(value, origin, "a wheel");
    if (auto file = pylock_file(entry, origin))
      package.files.push_back(std::move(*file));
    else
      package.instead = "a wheel at a local path";
  }
}

void read_other_forms(JsonObject& object, std::string_view origin, LockedPackage& package) {
  if (auto archive = object.try_object("archive", "an archive")) {
    auto file = pylock_file(*archive, origin);
    if (file && try_wheel_name(file->name)) {
      file->is_direct = true;
      package.files.push_back(std::move(*file));
    } else {
      package.instead = "an archive, whose build would run code";
    }
  }
  if (object.find("vcs") != nullptr) package.instead = "a repository, whose build would run code";
  if (object.find("directory") != nullptr) package.instead = "a local directory";
  if (object.find("sdist") != nullptr && package.instead.empty())
    package.instead = "an sdist, whose build would run code";
}

LockedPackage pylock_package(const JsonValue& value, std::string_view origin) {
  JsonObject object(value, origin, "a package");
  LockedPackage package = python_package(object, origin);
  package.marker = object.try_text("marker").value_or("");
  package.requires_python = object.try_text("requires-python").value_or("");
  read_wheels(object, origin, package);
  read_other_forms(object, origin, package);
  return package;
}

}  // namespace

EnvironmentLock read_pylock(std::string_view text, const std::string& origin) {
  const JsonValue root = parse_toml(text, origin, {.size_max = lock_text_max});
  JsonObject object(root, origin, "a lock");
  const std::string version = object.text("lock-version");
  if (version != "1.0" && !version.starts_with("1."))
    object.fail("lock-version", fmt::format("is {}: 1.0 is read", printable(version)),
                "lock it with a tool that writes 1.0");
  EnvironmentLock lock;
  lock.origin = origin;
  lock.requires_python = object.try_text("requires-python").value_or("");
  lock.environments = object.texts("environments");
  for (const std::string& group : object.texts("default-groups"))
    lock.default_groups.insert(normal_name(group).value_or(group));
  std::size_t files = 0;
  if (const JsonValue::Array* const packages = object.try_array("packages")) {
    check_package_count(packages->size(), 0, origin);
    for (const JsonValue& value : *packages) {
      lock.packages.push_back(pylock_package(value, origin));
      check_package_count(0, files += lock.packages.back().files.size(), origin);
    }
  }
  return lock;
}

}  // namespace sabath
