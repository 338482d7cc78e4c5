#include "conda/conda_package.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "conda/conda_unpacking.h"
#include "formats/packing.h"
#include "formats/zip.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

bool is_cached_by_python(std::string_view path) {
  return path.starts_with("__pycache__/") || path.find("/__pycache__/") != std::string_view::npos;
}

// Scripts that conda runs when it links or unlinks a package.
bool is_link_script(std::string_view path) {
  if (!path.starts_with("bin/.") || path.find('/', 4) != std::string_view::npos) return false;
  return path.ends_with("-post-link.sh") || path.ends_with("-pre-link.sh");
}

class PackageReading {
 public:
  PackageReading(const CondaPackageOrder& order, const std::stop_token& stop)
      : order_(order), unpacking_({label(), order.to, order.bytes_max, file_bytes()}, stop) {}

  CondaPackage run() {
    if (order_.file_name.ends_with(".conda"))
      unpack_zip();
    else
      unpack_whole();
    package_.label = label();
    package_.bytes = unpacking_.bytes();
    read_notes();
    judge();
    return std::move(package_);
  }

 private:
  [[nodiscard]] std::string label() const {
    return fmt::format("{} {}", printable(order_.name), printable(order_.version));
  }
  [[nodiscard]] std::uint64_t file_bytes() const {
    const auto status = try_stat(order_.file);
    return status ? static_cast<std::uint64_t>(status->st_size) : 0;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(FailureKind::invalid, fmt::format("{}: {} {}", label(), printable(order_.file_name), why),
                "take another build of the package, and tell its channel");
  }

  // Two archives in a zip: info-* first, so that a wrong package ends early.
  void unpack_zip() {
    const ZipArchive archive(order_.file);
    std::vector<const ZipMember*> parts;
    for (const ZipMember& member : archive.members()) {
      const std::string& name = member.name;
      if (name == "metadata.json") continue;
      const bool is_part = (name.starts_with("info-") || name.starts_with("pkg-")) && name.ends_with(".tar.zst") &&
                           name.find('/') == std::string::npos;
      if (!is_part) refuse(fmt::format("holds {}, which no package has", printable(name)));
      parts.push_back(&member);
    }
    std::ranges::sort(parts, {}, [](const ZipMember* each) { return each->name; });
    if (parts.size() != 2 || !parts[0]->name.starts_with("info-") || !parts[1]->name.starts_with("pkg-"))
      refuse("does not hold one info-*.tar.zst and one pkg-*.tar.zst");
    for (const ZipMember* const part : parts)
      unpacking_.take(
          Packing::zstd, [&] { return archive.open(*part); }, part->name);
  }

  void unpack_whole() {
    unpacking_.take(
        Packing::bzip2, [&] { return std::make_unique<FileBytes>(order_.file); }, order_.file_name);
  }

  std::string note(const std::string& name) {
    const auto text = try_read_text(order_.to / "info" / name, conda_note_max);
    if (!text) refuse(fmt::format("has no info/{}: it is of an old form that is not read", name));
    return *text;
  }

  void read_notes() {
    const std::string origin = label() + ": info/";
    if (!unpacking_.items().contains("info/index.json")) refuse("has no info/index.json");
    package_.index = parse_conda_index(note("index.json"), origin + "index.json");
    const CondaIndex& index = package_.index;
    std::string stem = order_.file_name;
    stem.resize(stem.size() - (stem.ends_with(".conda") ? 6 : 8));
    if (index.name != order_.name || index.version != order_.version ||
        stem != fmt::format("{}-{}-{}", index.name, index.version, index.build))
      refuse(fmt::format("says that it is {} {} {}", index.name, index.version, index.build));
    if (!unpacking_.items().contains("info/paths.json"))
      refuse("has no info/paths.json: it is of an old form that is not read");
    package_.paths = parse_conda_paths(note("paths.json"), origin + "paths.json");
    if (!index.is_noarch_python || !unpacking_.items().contains("info/link.json")) return;
    const auto points = parse_conda_entry_points(note("link.json"), origin + "link.json");
    package_.programs =
        parse_entry_points(fmt::format("[console_scripts]\n{}\n", fmt::join(points, "\n")), origin + "link.json");
  }

  void judge() {
    package_.items = unpacking_.take_items();
    std::erase_if(package_.items, [](const auto& item) { return item.first.starts_with("info/"); });
    std::set<std::string> known;
    for (const CondaPath& path : package_.paths) {
      if (!known.insert(path.path).second) refuse(fmt::format("names {} twice in paths.json", printable(path.path)));
      judge(path);
    }
    for (const auto& [path, item] : package_.items) {
      if (!known.contains(path)) refuse(fmt::format("has {}, which paths.json does not name", printable(path)));
      if (is_link_script(path)) package_.scripts.push_back(path);
    }
    std::erase_if(package_.paths,
                  [](const CondaPath& path) { return is_cached_by_python(path.path) || is_link_script(path.path); });
  }

  void judge(const CondaPath& path) const {
    if (path.kind == CondaPath::Kind::folder) return;
    const auto found = package_.items.find(path.path);
    if (found == package_.items.end()) refuse(fmt::format("has no {}, which paths.json names", printable(path.path)));
    const CondaItem& item = found->second;
    if (item.is_symlink != (path.kind == CondaPath::Kind::symlink))
      refuse(fmt::format("has {} as another kind of file than paths.json says", printable(path.path)));
    if (item.is_symlink) return;
    if (path.sha256.empty()) refuse(fmt::format("has {}, of which paths.json has no SHA-256", printable(path.path)));
    if (item.sha256 != path.sha256 || path.size_bytes.value_or(item.bytes) != item.bytes)
      refuse(fmt::format("has {}, whose bytes are not those that paths.json names", printable(path.path)));
  }

  const CondaPackageOrder& order_;
  CondaUnpacking unpacking_;
  CondaPackage package_;
};

}  // namespace

CondaPackage unpack_conda_package(const CondaPackageOrder& order, const std::stop_token& stop) {
  return PackageReading(order, stop).run();
}

std::string place_in_prefix(const CondaIndex& index, const std::string& path, const std::string& python) {
  if (!index.is_noarch_python) return path;
  constexpr std::string_view packages = "site-packages/", scripts = "python-scripts/";
  if (path.starts_with(packages)) return fmt::format("lib/{}/{}", python, path);
  if (path.starts_with(scripts)) return "bin/" + path.substr(scripts.size());
  return path;
}

}  // namespace sabath
