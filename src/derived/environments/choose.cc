#include "environments/choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "environments/marker.h"
#include "environments/python_version.h"
#include "environments/wheel_name.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::size_t against_max = 20;

struct RankedWheel {
  const LockedFile* file = nullptr;
  unsigned rank = 0;
  std::uint64_t build = 0;
  std::string build_suffix;

  [[nodiscard]] bool is_better_than(const RankedWheel& other) const {
    if (rank != other.rank) return rank < other.rank;
    if (build != other.build) return build > other.build;
    if (build_suffix != other.build_suffix) return build_suffix > other.build_suffix;
    return file->name < other.file->name;
  }
};

WheelName wheel_of(const LockedFile& file, const LockedPackage& package) {
  const auto wheel = try_wheel_name(file.name);
  if (!wheel)
    throw Error(FailureKind::invalid, fmt::format("{}: {} is no wheel's name", package.place, printable(file.name)));
  const auto version = package.version.empty() ? std::nullopt : try_python_version(package.version);
  PythonVersion of_wheel = wheel->version;
  if (version && version->local.empty()) of_wheel.local.clear();
  if (wheel->name != package.name || (version && compare(of_wheel, *version) != 0))
    throw Error(FailureKind::invalid, fmt::format("{}: {} is no wheel of {} {}", package.place, printable(file.name),
                                                  package.name, package.version));
  return *wheel;
}

class Chooser {
 public:
  Chooser(std::span<const EnvironmentLock> locks, const WheelTarget& target)
      : locks_(locks), target_(target), tags_(target) {}

  std::vector<ChosenPackage> choose() {
    for (const EnvironmentLock& lock : locks_) {
      check_lock(lock);
      for (const LockedPackage& package : lock.packages) {
        const MarkerValues values{.target = &target_, .extra = {}, .extras = {}, .groups = lock.default_groups};
        if (!is_of_platform(package) || !holds(package.marker, values, package.place + ": the marker")) continue;
        add(package.manager == PackageManager::conda ? conda(package) : python(package), package);
      }
    }
    if (!against_.empty()) {
      throw Error(
          FailureKind::not_found,
          fmt::format(
              "{}{}", fmt::join(against_, "; "),
              against_count_ > against_.size() ? fmt::format("; and {} more", against_count_ - against_.size()) : ""),
          is_for_others_ ? fmt::format("lock it again for this Python, {}", target_.python())
                         : "choose other versions or another target, or have wheels built and put into an index of "
                           "yours");
    }
    std::vector<ChosenPackage> all;
    for (auto& [key, package] : chosen_) all.push_back(std::move(package));
    return all;
  }

 private:
  void object(std::string why) {
    ++against_count_;
    if (against_.size() < against_max) against_.push_back(std::move(why));
  }

  void check_lock(const EnvironmentLock& lock) {
    check_requires_python(lock.requires_python, lock.origin, fmt::format("{} is locked", lock.origin));
    if (lock.environments.empty()) return;
    const MarkerValues values{.target = &target_, .extra = {}, .extras = {}, .groups = lock.default_groups};
    const auto fits = [&](const std::string& marker) {
      return holds(marker, values, lock.origin + ": an environment");
    };
    if (std::ranges::none_of(lock.environments, fits))
      object(fmt::format("{} is locked for other targets than Python {} on {}", lock.origin, target_.python(),
                         target_.machine));
  }

  bool check_requires_python(const std::string& text, const std::string& place, const std::string& what) {
    if (text.empty()) return true;
    const auto specifier = try_version_specifier(text);
    const auto version = try_python_version(target_.full_version);
    if (!specifier)
      throw Error(FailureKind::invalid,
                  fmt::format("{}: requires-python is no range of versions: {}", place, printable(text)));
    if (version && meets(*version, *specifier)) return true;
    is_for_others_ = true;
    object(fmt::format("{} for Python {}, not for {}", what, printable(text), target_.full_version));
    return false;
  }

  bool is_of_platform(const LockedPackage& package) const {
    return package.platform.empty() || package.platform == "noarch" || package.platform == conda_platform(target_);
  }

  static ChosenPackage taken(const LockedPackage& package, const LockedFile& file) {
    return {package.manager,  package.name,         package.version, package.place, file,
            package.platform, package.dependencies, package.category};
  }

  std::optional<ChosenPackage> conda(const LockedPackage& package) {
    if (package.files[0].sha256.empty() && package.files[0].md5.empty()) {
      object(fmt::format("{}: {} has no digest", package.place, package.name));
      return std::nullopt;
    }
    return taken(package, package.files[0]);
  }

  std::optional<ChosenPackage> python(const LockedPackage& package) {
    if (!check_requires_python(package.requires_python, package.place,
                               fmt::format("{}: {} {} is", package.place, package.name, package.version)))
      return std::nullopt;
    std::optional<RankedWheel> best;
    for (const LockedFile& file : package.files) {
      const WheelName name = wheel_of(file, package);
      const auto rank = tags_.rank(name);
      if (!rank) continue;
      const RankedWheel ranked{&file, *rank, name.build, name.build_suffix};
      if (best && best->file->name == file.name && best->file->sha256 != file.sha256)
        throw Error(FailureKind::invalid,
                    fmt::format("{}: {} is there twice, with two digests", package.place, printable(file.name)));
      if (!best || ranked.is_better_than(*best)) best = ranked;
    }
    if (!best) {
      object(against_.size() < against_max ? why_none(package) : std::string());
      return std::nullopt;
    }
    if (best->file->sha256.empty()) {
      object(fmt::format("{}: {} has no sha256", package.place, printable(best->file->name)));
      return std::nullopt;
    }
    ChosenPackage chosen = taken(package, *best->file);
    if (chosen.version.empty()) chosen.version = public_text(try_wheel_name(best->file->name)->version);
    return chosen;
  }

  // What stands against a package without a wheel for this target.
  std::string why_none(const LockedPackage& package) const {
    const std::string what = fmt::format("{}: {} {}", package.place, package.name, package.version);
    if (package.files.empty() && !package.instead.empty()) return fmt::format("{} is {}", what, package.instead);
    if (package.files.empty()) return fmt::format("{} has no wheel", what);
    WheelTarget newer = target_;
    newer.libc_minor = 99;
    const WheelTags all(newer);
    std::optional<unsigned> needed;
    for (const LockedFile& file : package.files) {
      const auto wheel = try_wheel_name(file.name);
      if (!all.rank(*wheel)) continue;
      for (const std::string& platform : wheel->platforms)
        if (const auto minor = libc_of(platform)) needed = needed ? std::min(*needed, *minor) : *minor;
    }
    if (needed)
      return fmt::format("{} needs {} {}.{} or newer, the target has {}", what, target_.is_musl ? "musl" : "glibc",
                         target_.libc_major, *needed, target_.libc());
    return fmt::format("{}: none of {} wheels is for Python {} on {} with {} {}: {}{}", what, package.files.size(),
                       target_.python(), target_.machine, target_.is_musl ? "musl" : "glibc", target_.libc(),
                       printable(package.files[0].name),
                       package.instead.empty() ? "" : "; what else there is: " + package.instead);
  }

  // "manylinux_2_28_x86_64" of this machine: 28.
  std::optional<unsigned> libc_of(const std::string& platform) const {
    const std::string begin = fmt::format("{}linux_{}_", target_.is_musl ? "musl" : "many", target_.libc_major);
    if (!platform.starts_with(begin) || !platform.ends_with(target_.machine)) return std::nullopt;
    unsigned minor = 0;
    for (std::size_t i = begin.size(); i < platform.size() && platform[i] >= '0' && platform[i] <= '9' && minor < 1000;
         ++i)
      minor = minor * 10 + static_cast<unsigned>(platform[i] - '0');
    return minor;
  }

  void add(std::optional<ChosenPackage> package, const LockedPackage& locked) {
    if (!package) return;
    const auto key = std::tuple(package->manager, package->name);
    const auto [there, is_new] = chosen_.emplace(key, *package);
    if (is_new) return;
    const LockedFile &first = there->second.file, &second = package->file;
    const bool same =
        there->second.version == package->version && first.sha256 == second.sha256 && first.md5 == second.md5;
    if (!same)
      throw Error(FailureKind::invalid,
                  fmt::format("{}: {} {} contradicts {} {} of {}", locked.place, package->name, package->version,
                              package->name, there->second.version, there->second.place),
                  "an environment has one version of a package: lock them together, or in two environments");
  }

  std::span<const EnvironmentLock> locks_;
  const WheelTarget& target_;
  const WheelTags tags_;
  std::map<std::tuple<PackageManager, std::string>, ChosenPackage> chosen_;
  std::vector<std::string> against_;
  std::size_t against_count_ = 0;
  bool is_for_others_ = false;  // the lock is, not the wheels of an index
};

}  // namespace

std::vector<ChosenPackage> choose_packages(std::span<const EnvironmentLock> locks, const WheelTarget& target) {
  return Chooser(locks, target).choose();
}

}  // namespace sabath
