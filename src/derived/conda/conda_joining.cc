#include "conda/conda_joining.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "packing/pack_environment.h"
#include "packing/rewritten_file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_two(const std::string& place, const std::string& one, const std::string& other) {
  throw Error(FailureKind::invalid,
              fmt::format("{} and {} both bring {}", std::min(one, other), std::max(one, other), printable(place)),
              "an environment has one of them: take the other one out of the lock, or take other builds");
}

}  // namespace

void CondaJoining::claim(const std::string& place, const std::string& owner) {
  const auto [there, is_new] = owners_.emplace(place, owner);
  if (!is_new) refuse_two(place, owner, there->second);
  if (const auto folder = folders_.find(place); folder != folders_.end()) refuse_two(place, owner, folder->second);
  for (std::size_t slash = place.find('/'); slash != std::string::npos; slash = place.find('/', slash + 1)) {
    const std::string folder = place.substr(0, slash);
    if (const auto file = owners_.find(folder); file != owners_.end()) refuse_two(folder, owner, file->second);
    folders_.emplace(folder, owner);
  }
}

void CondaJoining::add(const CondaPackage& package, const fs::path& from) {
  for (const CondaPath& path : package.paths) {
    const std::string place = place_in_prefix(package.index, path.path, source_.python);
    if (is_left_out_of_prefix(source_, place)) continue;
    if (place.starts_with("conda-meta/"))
      throw Error(FailureKind::invalid,
                  fmt::format("{} brings {}, which conda itself writes", package.label, printable(place)),
                  "take another build of the package, and tell its channel");
    if (path.kind == CondaPath::Kind::folder) {
      folders_.emplace(place, package.label);
      if (const auto file = owners_.find(place); file != owners_.end()) refuse_two(place, package.label, file->second);
      make_directories(top_ / place, 0755);
      continue;
    }
    claim(place, package.label);
    if (path.kind == CondaPath::Kind::symlink)
      links_.emplace(place, package.items.at(path.path).target);
    else
      move_file(package, path, place, from);
    if (is_note_of_python(place)) notes_.insert(place);
  }
  add_programs(package);
}

void CondaJoining::move_file(const CondaPackage& package, const CondaPath& path, const std::string& place,
                             const fs::path& from) {
  make_directories((top_ / place).parent_path(), 0755);
  if (::rename((from / path.path).c_str(), (top_ / place).c_str()) != 0) throw_errno("move", top_ / place, errno);
  if (place.starts_with("bin/") && ::chmod((top_ / place).c_str(), 0755) != 0)
    throw_errno("chmod", top_ / place, errno);
  if (!path.placeholder.empty())
    naming_.push_back({place, package.label, path.placeholder.size(), path.is_binary, {path.placeholder}});
}

void CondaJoining::add_programs(const CondaPackage& package) {
  for (const EntryPoint& each : package.programs) {
    const std::string place = "bin/" + each.name;
    if (is_left_out_of_prefix(source_, place) || each.name.starts_with("python"))
      throw Error(FailureKind::invalid,
                  fmt::format("{} has a program {}, as the interpreter has", package.label, each.name),
                  "take another build of the package, and tell its channel");
    claim(place, package.label);
    make_directories(top_ / "bin", 0755);
    write_new_file(top_ / place, entry_point_script(each));
    if (::chmod((top_ / place).c_str(), 0755) != 0) throw_errno("chmod", top_ / place, errno);
  }
}

std::vector<std::string> CondaJoining::make_links() {
  for (const auto& [place, target] : links_) {
    make_directories((top_ / place).parent_path(), 0755);
    if (::symlink(target.c_str(), (top_ / place).c_str()) != 0) throw_errno("link", top_ / place, errno);
  }
  const fs::path real = fs::canonical(top_);
  std::vector<std::string> gone;
  for (bool changed = true; changed;) {  // a link to a link that is left out
    changed = false;
    for (auto each = links_.begin(); each != links_.end();) {
      std::error_code error;
      const fs::path leads_to = fs::canonical(top_ / each->first, error);
      if (!error && !is_below(leads_to, real))
        throw Error(FailureKind::invalid,
                    fmt::format("{} brings {}, a symlink that leads outside of the environment",
                                owners_.at(each->first), printable(each->first)),
                    "take another build of the package, and tell its channel");
      if (!error) {
        ++each;
        continue;
      }
      ::unlink((top_ / each->first).c_str());
      gone.push_back(each->first);
      each = links_.erase(each);
      changed = true;
    }
  }
  std::ranges::sort(gone);
  return gone;
}

std::vector<std::string> CondaJoining::places() const {
  std::vector<std::string> places;
  for (const auto& [place, owner] : owners_) places.push_back(place);
  return places;
}

}  // namespace sabath
