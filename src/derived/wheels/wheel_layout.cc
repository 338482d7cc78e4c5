#include "wheels/wheel_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/split.h"
#include "base/text.h"
#include "environments/package_name.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

[[noreturn]] void refuse_member(const std::string& label, std::string_view name, std::string_view why) {
  throw Error(FailureKind::invalid, fmt::format("{}: {} {}", label, printable(name), why),
              "take another version of the package, and tell its publisher");
}

bool is_drive(std::string_view part) {
  return part.size() >= 2 && part[1] == ':' && ((part[0] | 0x20) >= 'a' && (part[0] | 0x20) <= 'z');
}

// Of a .data folder "data": a place below the prefix itself. Files that would change how the interpreter starts, or its
// library, are no package's.
void check_prefix_place(const WheelLayout& layout, const std::string& name, const std::string& place) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> places) {
    return std::ranges::find(places, std::string_view(place)) != places.end();
  };
  const std::string key = place_key(place), library = "lib/" + layout.python + "/";
  if (is_one_of({"pyvenv.cfg", "environment.json", "bin/pyvenv.cfg", "bin/pybuilddir.txt", "bin/activate",
                 "bin/activate.fish"}) ||
      key.starts_with("bin/python"))
    refuse_member(layout.label, name, "would change how the interpreter starts");
  if (key.starts_with("lib64/")) refuse_member(layout.label, name, "goes into lib64, and the library is in lib");
  if ((key.starts_with(library) && !key.starts_with(library + "site-packages/")) ||
      (key.starts_with("lib/python3") && key.ends_with(".zip")))
    refuse_member(layout.label, name, "goes into the standard library");
}

// The interpreter and its modules look for libraries there: another libm.so.6 would run in each of its starts, and when
// modules are compiled. The loader also looks in folders of these names below each such directory.
void check_library_place(const WheelLayout& layout, const std::string& name, const std::string& place) {
  constexpr std::array<std::string_view, 8> loader_folders{"glibc-hwcaps", "tls",    "haswell", "xeon_phi",
                                                           "avx512_1",     "x86_64", "aarch64", "power9"};
  const std::string key = place_key(place);
  const auto parts = parts_at(key, '/');
  const bool is_searched = parts.size() == 1 || parts[0] == "lib" || parts[0] == "bin";
  if (!is_searched || key.starts_with("lib/" + layout.python + "/site-packages/")) return;
  if (parts.size() > 2 && std::ranges::find(loader_folders, parts[1]) != loader_folders.end())
    refuse_member(layout.label, name,
                  fmt::format("goes into {}, where the loader looks for libraries first", parts[1]));
  const std::string file = place.substr(place.rfind('/') + 1);
  if (parts.size() > 2 || parts.back().find(".so") == std::string::npos || layout.accepted.contains(file)) return;
  throw Error(FailureKind::invalid,
              fmt::format("{}: {} is a library where the interpreter looks for its own", layout.label, printable(name)),
              fmt::format("accept {} by its name if you trust the package: its code may run when it is packed",
                          printable(file)));
}

// Notes of one package that another one brings would make it look installed, or like another version.
void check_info_place(const WheelLayout& layout, const std::string& name, const std::string& place) {
  const std::string packages = layout.packages() + "/";
  if (!place.starts_with(packages)) return;
  const std::string_view rest = std::string_view(place).substr(packages.size());
  const std::string top = to_lower(rest.substr(0, rest.find('/')));
  const std::string_view below = rest.substr(std::min(rest.find('/'), rest.size() - 1) + 1);
  const bool in_note = top.ends_with(".dist-info") && below.find('/') != std::string_view::npos &&
                       (below.starts_with("uv_cache.json/") || below.starts_with("direct_url.json/"));
  if (in_note || (rest.size() > top.size() && (top.ends_with(".pth") || top == "_virtualenv.py")))
    refuse_member(layout.label, name, "is in a folder that has the name of a file");
  if (top.ends_with(".egg-info") || top.ends_with(".egg-link") ||
      (top.ends_with(".dist-info") && rest.substr(0, rest.find('/')) != layout.info()))
    refuse_member(layout.label, name, "belongs to another package");
}

}  // namespace

std::string place_key(std::string_view place) { return to_lower(place); }

void check_wheel_name(const std::string& label, std::string_view name, bool utf8) {
  const auto refuse = [&](std::string_view why) { refuse_member(label, name, why); };
  if (name.starts_with('/')) refuse("is an absolute name");
  if (name.find('\\') != std::string_view::npos) refuse("has a backslash");
  if (!utf8 && std::ranges::any_of(name, [](unsigned char c) { return c >= 0x80; }))
    refuse("is in a character set that the archive does not name");
  const auto parts = parts_at(name, '/');
  if (std::ranges::any_of(parts, is_drive)) refuse("names a drive");
  if (std::ranges::find(parts, "..") != parts.end()) refuse("leads out of its folder");
  if (!RelativePath::try_parse(name)) refuse("is no name of a file");
}

std::optional<std::string> info_stem(std::string_view folder, const WheelName& wheel) {
  constexpr std::string_view ending = ".dist-info";
  if (!folder.ends_with(ending)) return std::nullopt;
  const std::string_view stem = folder.substr(0, folder.size() - ending.size());
  for (std::size_t dash = stem.find('-'); dash != std::string_view::npos; dash = stem.find('-', dash + 1)) {
    const auto version = try_python_version(stem.substr(dash + 1));
    if (version && normal_name(stem.substr(0, dash)) == wheel.name && compare(*version, wheel.version) == 0)
      return std::string(stem);
  }
  return std::nullopt;
}

std::string wheel_place(const WheelLayout& layout, const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string top = name.substr(0, slash);
  std::string place = layout.packages() + "/" + name;
  if (top.ends_with(".data") && top.find('-') != std::string::npos) {
    if (top != layout.stem + ".data") refuse_member(layout.label, name, "belongs to another package");
    const std::string rest = slash == std::string::npos ? "" : name.substr(slash + 1);
    const std::size_t next = rest.find('/');
    const std::string scheme = rest.substr(0, next);
    const std::string below = next == std::string::npos ? "" : rest.substr(next + 1);
    if (below.empty()) refuse_member(layout.label, name, "is in none of the known folders of .data");
    if (scheme == "purelib" || scheme == "platlib") {
      place = layout.packages() + "/" + below;
    } else if (scheme == "scripts") {
      if (below.find('/') != std::string::npos) refuse_member(layout.label, name, "is a script in a folder");
      place = "bin/" + below;
    } else if (scheme == "headers") {
      place = "include/" + layout.python + "/" + layout.header_folder + "/" + below;
    } else if (scheme == "data") {
      place = below;
    } else {
      refuse_member(layout.label, name, "is in none of the known folders of .data");
    }
    check_prefix_place(layout, name, place);
    check_library_place(layout, name, place);
  }
  check_info_place(layout, name, place);
  return place;
}

}  // namespace sabath
