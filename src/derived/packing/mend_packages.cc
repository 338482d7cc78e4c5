#include "packing/mend_packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "packing/installed_record.h"
#include "packing/rewritten_file.h"
#include "packing/start_code.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t note_max = 16 << 20, record_max = 256 << 20;

std::vector<std::string> entries_of(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  std::ranges::sort(names);
  return names;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Python also ends lines where people see none, and skips a mark at the front: code could hide there.
bool has_other_lines(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) return true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest[0] == '\r' && !rest.starts_with("\r\n")) return true;
    if (static_cast<unsigned char>(rest[0]) < ' ' && rest[0] != '\n' && rest[0] != '\r' && rest[0] != '\t') return true;
    if (rest.starts_with("\xc2\x85") || rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9"))
      return true;
  }
  return false;
}

// "__editable__.flute-1.2.pth", "__editable___flute_finder.pth"
std::string editable_name(std::string_view file) {
  file.remove_prefix(std::string_view("__editable__").size());
  if (file.starts_with('.') || file.starts_with('_')) file.remove_prefix(1);
  return std::string(file.substr(0, file.find('-')));
}

class PackagesMending {
 public:
  explicit PackagesMending(const PackagesOrder& order) : order_(order), site_(order.top / order.below) {}

  MendedPackages run() {
    for (const std::string& name : entries_of(site_)) {
      if (name == "_virtualenv.pth" || name == "_virtualenv.py")
        remove_note(site_ / name, name);
      else if (is_start_module(name))
        refuse_start_module(name);
      else if (name.ends_with(".pth"))
        mend_paths(name);
      else if (name.ends_with(".egg-link"))
        refuse_editable(name.substr(0, name.size() - 9));
      else if (name.ends_with(".dist-info"))
        look_at(name, "METADATA");
      else if (name.ends_with(".egg-info"))
        look_at(name, try_stat(site_ / name / "PKG-INFO") ? "PKG-INFO" : "");
    }
    std::ranges::sort(mended_.packages, {},
                      [](const FoundPackage& each) { return std::pair(to_lower(each.name), each.version); });
    return std::move(mended_);
  }

 private:
  [[noreturn]] static void refuse_editable(const std::string& name) {
    throw Error(FailureKind::invalid,
                fmt::format("{} is installed as editable: its code lies elsewhere", printable(name)),
                "install it without -e, then pack again");
  }

  static void refuse_folder(const fs::path& file, const std::string& name) {
    const auto status = try_lstat(file);
    if (status && S_ISDIR(status->st_mode))
      throw Error(FailureKind::invalid, fmt::format("{} is a folder, and no file", printable(name)),
                  "remove it with its package");
  }

  static void remove_note(const fs::path& file, const std::string& name) {
    refuse_folder(file, name);
    fs::remove(file);
  }

  void refuse_start_module(const std::string& name) const {
    if (order_.accepted.contains(name)) return;
    throw Error(FailureKind::invalid,
                fmt::format("{} is code that each start of the interpreter runs", printable(name)),
                "remove it with its package, or accept it by its name if its code works elsewhere");
  }

  void look_at(const std::string& folder, const std::string& file) {
    const fs::path directory = site_ / folder;
    const auto text = try_read_text(file.empty() ? directory : directory / file, note_max);
    const FoundPackage package = text ? package_in(*text) : FoundPackage{};
    for (const std::string& word : {package.name, package.version})
      if (std::ranges::any_of(word, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
        throw Error(FailureKind::invalid,
                    fmt::format("{} has control characters in its name or version", printable(folder)),
                    "remove the package, and tell its publisher");
    if (package.name.empty() || package.version.empty()) {
      mended_.remarks.push_back(fmt::format("{} does not say which package it is", printable(folder)));
    } else {
      mended_.packages.push_back(package);
    }
    mend_origin(directory, package.name.empty() ? folder : package.name);
  }

  // direct_url.json: a package that did not come from an index. A local place means nothing elsewhere.
  void mend_origin(const fs::path& directory, const std::string& name) {
    const std::string folder_name = directory.filename();
    remove_note(directory / "uv_cache.json", folder_name + "/uv_cache.json");
    const fs::path file = directory / "direct_url.json";
    refuse_folder(file, folder_name + "/direct_url.json");
    const auto text = try_read_text(file, 1 << 20);
    if (!text) return;
    const JsonValue value = parse_json(*text, name + ": direct_url.json");
    JsonObject object(value, name + ": direct_url.json", "where a package comes from");
    auto folder = object.try_object("dir_info", "its folder");
    if (folder && folder->flag("editable")) refuse_editable(name);
    const auto url = object.try_text("url");
    if (!url || !url->starts_with("file:")) return;
    fs::remove(file);
    mended_.remarks.push_back(
        fmt::format("{} was installed from a local place, and the note of it is left out", printable(name)));
  }

  void mend_paths(const std::string& name) {
    refuse_folder(site_ / name, name);
    const std::string text = try_read_text(site_ / name, 1 << 20).value_or("");
    if (name.starts_with("__editable__")) refuse_editable(editable_name(name));
    if (has_other_lines(text))
      throw Error(FailureKind::invalid, fmt::format("{} has control characters", printable(name)),
                  "remove it with its package");
    std::string mended;
    for (std::string_view left = text; !left.empty();) {
      const std::string_view line = next_line(left);
      mended += mended_line(name, line) + "\n";
    }
    rewrite_file(site_ / name, mended);
  }

  std::string mended_line(const std::string& name, std::string_view line) {
    const std::string_view word = trim(line);
    if (word.empty() || word.starts_with('#')) return std::string(line);
    if (line.starts_with("import ") || line.starts_with("import\t")) {
      if (is_known_start_code(name, line) || order_.accepted.contains(name)) return std::string(line);
      throw Error(FailureKind::invalid,
                  fmt::format("{} has code that each start of the interpreter runs", printable(name)),
                  "remove it with its package, or accept it by its name if its code works elsewhere");
    }
    const fs::path target = fs::path(word).lexically_normal();
    fs::path below = target;
    if (target.is_absolute()) {
      const auto place =
          std::ranges::find_if(order_.places, [&](const fs::path& each) { return is_below(target, each); });
      if (place == order_.places.end()) refuse_path(name, word);
      below = target.lexically_relative(*place).lexically_relative(order_.below);
    }
    if ((fs::path(order_.below) / below).lexically_normal().native().starts_with("..")) refuse_path(name, word);
    return below.native();
  }

  [[noreturn]] static void refuse_path(const std::string& name, std::string_view word) {
    throw Error(FailureKind::invalid,
                fmt::format("{} adds {}, which is outside of the environment", printable(name), printable(word, 1000)),
                "install that as a package, and remove the file");
  }

  const PackagesOrder& order_;
  const fs::path site_;
  MendedPackages mended_;
};

// The row's file below `top`; nullopt: outside, or there is none.
std::optional<std::string> file_of_row(const PackagesOrder& order, const std::string& row) {
  fs::path path = row;
  if (path.is_absolute()) {
    const auto place = std::ranges::find_if(
        order.places, [&](const fs::path& each) { return is_below(path.lexically_normal(), each); });
    if (place == order.places.end()) return std::nullopt;
    path = path.lexically_normal().lexically_relative(*place);
  } else {
    path = (fs::path(order.below) / path).lexically_normal();
  }
  if (path.native().starts_with("..")) return std::nullopt;
  const auto status = try_lstat(order.top / path);
  if (!status || S_ISDIR(status->st_mode)) return std::nullopt;
  return path.native();
}

}  // namespace

std::string header_in(std::string_view metadata, std::string_view name) {
  while (!metadata.empty()) {
    const std::string_view line = next_line(metadata);
    if (trim(line).empty()) break;
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':')
      return std::string(trim(line.substr(name.size() + 1)));
  }
  return {};
}

FoundPackage package_in(std::string_view metadata) {
  return {header_in(metadata, "Name"), header_in(metadata, "Version")};
}

MendedPackages mend_packages(const PackagesOrder& order) { return PackagesMending(order).run(); }

void mend_installed_records(const PackagesOrder& order, const std::set<std::string>& changed) {
  const fs::path site = order.top / order.below;
  for (const std::string& name : entries_of(site)) {
    if (!name.ends_with(".dist-info")) continue;
    const auto text = try_read_text(site / name / "RECORD", record_max);
    if (!text) continue;
    std::vector<InstalledFile> kept;
    for (InstalledFile& row : parse_installed_record(*text, name + "/RECORD")) {
      const auto file = file_of_row(order, row.path);
      if (!file || file->ends_with(".pyc")) continue;
      row.path = fs::path(*file).lexically_relative(order.below).native();
      const auto status = try_lstat(order.top / *file);
      if (changed.contains(*file) && S_ISREG(status->st_mode)) describe_installed(row, order.top / *file);
      kept.push_back(std::move(row));
    }
    rewrite_file(site / name / "RECORD", installed_record_text(kept));
  }
}

}  // namespace sabath
