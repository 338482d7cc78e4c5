#include "packed/machine_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/split.h"
#include "base/text.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t loader_cache_max = 64 << 20;
constexpr std::size_t libraries_told = 10;

std::string kernel_machine() {
  struct utsname names {};
  return ::uname(&names) == 0 ? names.machine : "";
}

// As ELF files have it.
std::string program_machine(const std::string& kernel) {
  if (kernel == "ppc64le") return "ppc64";
  if (kernel.size() == 4 && kernel.front() == 'i' && kernel.ends_with("86")) return "i386";
  return kernel.starts_with("armv") ? "arm" : kernel;
}

// "2.36"; empty: this machine has no glibc.
std::string glibc_here() {
#ifdef _CS_GNU_LIBC_VERSION
  char buffer[64] = "";
  static_cast<void>(::confstr(_CS_GNU_LIBC_VERSION, buffer, sizeof buffer));
  const std::string_view text(buffer);
  if (text.starts_with("glibc ")) return std::string(text.substr(6));
#endif
  return "";
}

std::pair<std::uint64_t, std::uint64_t> two_numbers(std::string_view version) {
  const auto parts = parts_at(version, '.');
  const auto number = [&](std::size_t i) {
    return i < parts.size() ? try_whole_number(parts[i]).value_or(0) : std::uint64_t{0};
  };
  return {number(0), number(1)};
}

class LoaderPlaces {
 public:
  LoaderPlaces(const std::string& machine, const std::string& library_path) {
    for (const std::string& place : parts_at(library_path, ':'))
      if (place.starts_with('/')) directories_.emplace_back(place);
    for (const char* top : {"/lib", "/usr/lib"}) {
      directories_.emplace_back(top);
      directories_.emplace_back(std::string(top) + "64");
      directories_.push_back(fs::path(top) / (machine + "-linux-gnu"));
    }
  }

  bool has(const std::string& name) {
    if (std::ranges::any_of(directories_, [&](const fs::path& place) { return is_there(place / name); })) return true;
    if (!cache_) cache_ = try_read_text("/etc/ld.so.cache", loader_cache_max).value_or("");
    // Each entry is a name and a path, and both end with a zero.
    for (std::size_t at = 0; (at = cache_->find("/" + name + '\0', at)) != std::string::npos; ++at) {
      const std::size_t begin = cache_->rfind('\0', at) + 1;
      if (is_there(cache_->substr(begin, at + 1 + name.size() - begin))) return true;
    }
    return false;
  }

 private:
  // A directory that cannot be read is passed over, as the loader does it.
  static bool is_there(const fs::path& file) {
    std::error_code error;
    return fs::exists(file, error);
  }

  std::vector<fs::path> directories_;
  std::optional<std::string> cache_;
};

// "libtirpc.so.3 (of lib/python3.11/lib-dynload/nis.so)"
std::string with_need(const EnvironmentNote& note, const std::string& name) {
  const auto needs = note.needed_by.find(name);
  return needs == note.needed_by.end() ? name : fmt::format("{} (for {})", name, needs->second);
}

std::string some_of(std::vector<std::string> names) {
  const std::size_t all = names.size();
  names.resize(std::min(all, libraries_told));
  return printable(fmt::format("{}{}", fmt::join(names, ", "), all > libraries_told ? ", ..." : ""), 4000);
}

}  // namespace

MachineFit machine_fit(const EnvironmentNote& note, const std::string& library_path) {
  MachineFit fit;
  const std::string kernel = kernel_machine();
  if (!note.machine.empty() && !note.machine.starts_with("machine ") && note.machine != program_machine(kernel)) {
    fit.against.push_back(fmt::format("it is for {}, and this machine is {}", printable(note.machine), kernel));
    return fit;  // its libraries are no matter then
  }
  const std::string here = glibc_here();
  if (!note.glibc.empty() && here.empty())
    fit.against.push_back("it needs glibc, and this machine has another C library");
  else if (two_numbers(note.glibc) > two_numbers(here))
    fit.against.push_back(fmt::format("it needs glibc {}, and this machine has {}", printable(note.glibc), here));
  LoaderPlaces places(kernel, library_path);
  std::vector<std::string> absent;
  for (const std::string& name : note.system_libraries)
    if (!places.has(name)) absent.push_back(with_need(note, name));
  if (!absent.empty())
    fit.against.push_back(fmt::format("this machine does not have {} that it needs: {}",
                                      absent.size() == 1 ? "a library" : "libraries", some_of(absent)));
  for (const std::string& name : note.node_libraries)
    if (!places.has(name)) fit.lacking.push_back(name);
  for (const std::string& name : note.optional_libraries)
    if (!places.has(name)) fit.unloadable.push_back(with_need(note, name));
  return fit;
}

MachineFit refuse_misfit(const std::string& name, const EnvironmentNote& note, const std::string& library_path) {
  MachineFit fit = machine_fit(note, library_path);
  if (!fit.against.empty()) {
    throw Error(
        FailureKind::command, fmt::format("the environment {} cannot run here: {}", name, fmt::join(fit.against, "; ")),
        fmt::format("install what is missing here; pack one on a machine as old as this one; or accept by name, in "
                    "`{}`, the libraries that modules bring to the nodes",
                    verb_text("env pack")));
  }
  return fit;
}

std::string warning_of_lacking(const std::string& name, const MachineFit& fit) {
  if (fit.lacking.empty()) return "";
  return fmt::format("the environment {} wants libraries of drivers and modules that are not found here: {}", name,
                     some_of(fit.lacking));
}

std::string warning_of_unloadable(const std::string& name, const MachineFit& fit) {
  if (fit.unloadable.empty()) return "";
  return fmt::format(
      "modules of Python's own library in the environment {} do not load on this machine, which is without {}", name,
      some_of(fit.unloadable));
}

}  // namespace sabath
