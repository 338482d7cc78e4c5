// Which names an archive may hold, for both readers: of a whole stream (archive.h) and of headers (remote_tar.h).
//
// Each name stands for one thing, in a tar for the last that has it; only directories have names below them; a hard
// link stands for a file or symlink before it; and no name leads out of the archive. Other names are refused:
// Error{invalid}. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "manifest/manifest.h"
#include "sabath/path.h"

namespace sabath {

inline constexpr std::size_t archive_entries_max = 20'000'000;

// The path of an entry as archives write it: "./a//b/" is a/b; nullopt for the archive's own root ("." or "./").
[[nodiscard]] std::optional<RelativePath> archive_path(std::string_view name);

[[nodiscard]] bool is_archive_path(std::string_view name);  // false: archive_path throws

class ArchiveNames {
 public:
  // `archive`: its name, for messages. `grows`: a tar, at whose end `tar -r` and `tar -u` put what is newer.
  ArchiveNames(std::string archive, bool grows) : archive_(std::move(archive)), grows_(grows) {}

  // archive_path, with the archive named in what it refuses.
  [[nodiscard]] std::optional<RelativePath> path(std::string_view raw) const;
  void check_symlink(const RelativePath& path, std::string_view target) const;
  // The number of the file or symlink that a hard link stands for; nullopt: it names itself, as tar writes a name given
  // twice.
  [[nodiscard]] std::optional<std::size_t> linked(const RelativePath& path, std::string_view target) const;
  // Takes the name for entry `number`. Returns the number under which it stands: that of a directory that has been here
  // already, or of the older file or symlink whose place it takes.
  [[nodiscard]] std::size_t add(const RelativePath& path, EntryType type, std::size_t number);
  [[noreturn]] void refuse(const std::string& why) const;  // "the archive NAME `why`"

 private:
  static constexpr std::size_t implied = SIZE_MAX;  // a directory that is only the beginning of other names
  struct Place {
    std::size_t number = implied;
    EntryType type = EntryType::directory;
  };
  std::string archive_;
  bool grows_;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace sabath
