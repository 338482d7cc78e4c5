#include "environments/wheel_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "base/split.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

struct MachineNames {
  std::string_view machine, conda;
  unsigned oldest_glibc;  // of the tags that there are: 2.5 for manylinux1
};
constexpr MachineNames machine_names[] = {{"x86_64", "linux-64", 5},        {"i686", "linux-32", 5},
                                          {"aarch64", "linux-aarch64", 17}, {"ppc64le", "linux-ppc64le", 17},
                                          {"s390x", "linux-s390x", 17},     {"armv7l", "linux-armv7l", 17},
                                          {"riscv64", "linux-riscv64", 17}, {"loongarch64", "linux-loongarch64", 36}};

constexpr unsigned minor_max = 99;

const MachineNames* names_of(std::string_view machine) {
  const auto* const found = std::ranges::find(machine_names, machine, &MachineNames::machine);
  return found == std::end(machine_names) ? nullptr : found;
}

std::optional<std::pair<unsigned, unsigned>> two_numbers(std::string_view text) {
  const auto parts = parts_at(text, '.');
  if (parts.size() != 2) return std::nullopt;
  const auto major = try_whole_number(parts[0]), minor = try_whole_number(parts[1]);
  if (!major || !minor || *major > minor_max || *minor > minor_max) return std::nullopt;
  return std::pair(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
}

}  // namespace

std::string WheelTarget::python() const { return fmt::format("{}.{}{}", major, minor, is_free_threaded ? "t" : ""); }
std::string WheelTarget::libc() const { return fmt::format("{}.{}", libc_major, libc_minor); }

void set_python(WheelTarget& target, std::string_view text) {
  std::string_view version = text;
  target.is_free_threaded = version.ends_with('t');
  if (target.is_free_threaded) version.remove_suffix(1);
  const auto parts = parts_at(version, '.');
  const auto numbers = parts.size() < 2 ? std::nullopt : two_numbers(parts[0] + "." + parts[1]);
  const bool patch_fits = parts.size() == 2 || (parts.size() == 3 && try_whole_number(parts[2]) && parts[2].size() < 4);
  if (!numbers || !patch_fits || numbers->first != 3 || numbers->second < 6 ||
      (target.is_free_threaded && numbers->second < 13)) {
    throw Error(FailureKind::usage, fmt::format("'{}' is no version of CPython 3.6 or newer", printable(text)),
                "say it as 3.11 or 3.11.7");
  }
  std::tie(target.major, target.minor) = *numbers;
  target.full_version = fmt::format("{}.{}.{}", target.major, target.minor, parts.size() == 3 ? parts[2] : "0");
}

void set_platform(WheelTarget& target, std::string_view text) {
  std::string_view machine = text;
  for (const MachineNames& names : machine_names)
    if (machine == names.conda) machine = names.machine;
  for (const std::string_view front : {"linux_", "linux-"})
    if (machine.starts_with(front)) machine.remove_prefix(front.size());
  if (machine == "amd64") machine = "x86_64";
  if (machine == "arm64") machine = "aarch64";
  if (names_of(machine) == nullptr) {
    throw Error(FailureKind::usage,
                fmt::format("'{}' is no platform that environments are locked for", printable(text)),
                "say x86_64, aarch64, ppc64le, s390x, riscv64, i686 or armv7l: the nodes have Linux");
  }
  target.machine = machine;
}

void set_libc(WheelTarget& target, std::string_view version, bool is_musl) {
  const auto numbers = two_numbers(version);
  if (!numbers || numbers->first != (is_musl ? 1U : 2U)) {
    throw Error(FailureKind::usage,
                fmt::format("'{}' is no version of {}", printable(version), is_musl ? "musl" : "glibc"),
                is_musl ? "say it as 1.2" : "say it as 2.28: `ldd` on a node names its version");
  }
  target.is_musl = is_musl;
  std::tie(target.libc_major, target.libc_minor) = *numbers;
}

std::vector<std::string> wheel_platforms(const WheelTarget& target) {
  std::vector<std::string> platforms;
  if (target.is_musl) {
    for (unsigned minor = target.libc_minor + 1; minor-- > 0;)
      platforms.push_back(fmt::format("musllinux_{}_{}_{}", target.libc_major, minor, target.machine));
  } else {
    constexpr std::pair<unsigned, std::string_view> older_names[] = {
        {17, "manylinux2014"}, {12, "manylinux2010"}, {5, "manylinux1"}};
    const MachineNames* const names = names_of(target.machine);
    const unsigned oldest = names == nullptr ? 17 : names->oldest_glibc;
    for (unsigned minor = target.libc_minor + 1; minor-- > oldest;) {
      platforms.push_back(fmt::format("manylinux_2_{}_{}", minor, target.machine));
      for (const auto& [of, name] : older_names)
        if (minor == of) platforms.push_back(fmt::format("{}_{}", name, target.machine));
    }
  }
  platforms.push_back("linux_" + target.machine);
  return platforms;
}

std::string wheel_abi(const WheelTarget& target) {
  return fmt::format("cp{}{}{}", target.major, target.minor,
                     target.is_free_threaded ? "t"
                     : target.minor < 8      ? "m"
                                             : "");
}

std::string conda_platform(const WheelTarget& target) {
  const MachineNames* const names = names_of(target.machine);
  return std::string(names == nullptr ? "linux-64" : names->conda);
}

WheelTags::WheelTags(const WheelTarget& target) {
  unsigned next = 0;
  const auto add = [&](const std::string& python, const std::string& abi, const std::string& platform) {
    ranks_.emplace(fmt::format("{}-{}-{}", python, abi, platform), next++);
  };
  const std::vector<std::string> platforms = wheel_platforms(target);
  const std::string own = fmt::format("cp{}{}", target.major, target.minor);
  const auto add_all = [&](const std::string& python, const std::string& abi) {
    for (const std::string& platform : platforms) add(python, abi, platform);
  };
  add_all(own, wheel_abi(target));
  if (!target.is_free_threaded) add_all(own, "abi3");
  add_all(own, "none");
  if (!target.is_free_threaded)
    for (unsigned minor = target.minor; minor-- > 2;) add_all(fmt::format("cp{}{}", target.major, minor), "abi3");
  std::vector<std::string> pythons{fmt::format("py{}{}", target.major, target.minor),
                                   fmt::format("py{}", target.major)};
  for (unsigned minor = target.minor; minor-- > 0;) pythons.push_back(fmt::format("py{}{}", target.major, minor));
  for (const std::string& python : pythons) add_all(python, "none");
  add(own, "none", "any");
  for (const std::string& python : pythons) add(python, "none", "any");
}

std::optional<unsigned> WheelTags::rank(const WheelName& wheel) const {
  std::optional<unsigned> best;
  for (const std::string& python : wheel.pythons)
    for (const std::string& abi : wheel.abis)
      for (const std::string& platform : wheel.platforms)
        if (const auto found = ranks_.find(fmt::format("{}-{}-{}", python, abi, platform)); found != ranks_.end())
          best = best ? std::min(*best, found->second) : found->second;
  return best;
}

}  // namespace sabath
