#include "fetch/decide/archive_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "sabath/error.h"

namespace sabath {
namespace {

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

std::optional<RelativePath> archive_path(std::string_view name) {
  if (name.starts_with('/')) return RelativePath::parse(name);  // refuses it
  std::string path;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (!part.empty() && part != ".") {
      if (!path.empty()) path += '/';
      path += part;
    }
    begin = end + 1;
  }
  if (path.empty()) return std::nullopt;
  return RelativePath::parse(path);
}

bool is_archive_path(std::string_view name) {
  try {
    static_cast<void>(archive_path(name));
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<RelativePath> ArchiveNames::path(std::string_view raw) const {
  try {
    return archive_path(raw);
  } catch (const Error& error) {
    refuse(fmt::format("holds an {}", error.what()));  // "unsafe path ..."
  }
}

void ArchiveNames::check_symlink(const RelativePath& path, std::string_view target) const {
  if (symlink_stays_inside(path, target)) return;
  refuse(fmt::format("holds a symlink that leaves it: {} -> {}", printable(path.text()), printable(target)));
}

std::optional<std::size_t> ArchiveNames::linked(const RelativePath& path, std::string_view target) const {
  const auto to = this->path(target);
  if (to == path) return std::nullopt;
  const auto found = to ? places_.find(to->text()) : places_.end();
  if (found == places_.end()) {
    refuse(
        fmt::format("holds a hard link to what is not before it: {} -> {}", printable(path.text()), printable(target)));
  }
  if (found->second.type == EntryType::directory)
    refuse(fmt::format("holds a hard link to a directory: {} -> {}", printable(path.text()), printable(target)));
  return found->second.number;
}

std::size_t ArchiveNames::add(const RelativePath& path, EntryType type, std::size_t number) {
  for (std::string_view above = path.parent(); !above.empty(); above = parent_of(above)) {
    const auto [found, fresh] = places_.try_emplace(std::string(above));
    if (found->second.type != EntryType::directory) {
      refuse(fmt::format("holds {}, below what is no directory", printable(path.text())));
    }
    if (!fresh) break;
  }
  const auto [found, fresh] = places_.try_emplace(path.text(), Place{number, type});
  if (fresh) return number;
  Place& place = found->second;
  const bool both = type == EntryType::directory && place.type == EntryType::directory;
  const bool neither = type != EntryType::directory && place.type != EntryType::directory;
  if (!both && !(grows_ && neither)) refuse(fmt::format("holds {} twice", printable(path.text())));
  if (place.number == implied) place.number = number;
  place.type = type;
  return place.number;
}

void ArchiveNames::refuse(const std::string& why) const {
  throw Error(FailureKind::invalid, fmt::format("the archive {} {}", archive_, why),
              "nothing of it was kept; tell its publisher");
}

}  // namespace sabath
