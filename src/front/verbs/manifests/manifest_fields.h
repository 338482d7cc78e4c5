// What `manifest show` and `manifest diff` write, described: their lists are printed element by element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fields/fields.h"
#include "sabath/verbs/manifest.h"

namespace sabath {

[[nodiscard]] Json note_json(const ManifestShowRecord& record);

template <>
struct Described<ManifestEntry> {
  using Of = ManifestEntry;
  static bool is_link(const Of& entry) { return !entry.digest; }
  static bool is_no_link(const Of& entry) { return entry.digest.has_value(); }
  static std::optional<std::vector<std::string>> chunks(const Of& entry) {
    if (!entry.chunks) return std::nullopt;
    std::vector<std::string> all;
    for (const Sha256& chunk : *entry.chunks) all.push_back(chunk.hex());
    return all;
  }
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "relative to the root"),
      SABATH_FIELD(type, .help = "file, executable, directory or symlink"),
      SABATH_FIELD(target, .help = "of a symlink alone: where it leads", .only_if = SABATH_IF(is_link)),
      SABATH_FIELD(size, .help = "its length; of a directory, of all files below it", .unit = "bytes",
                   .only_if = SABATH_IF(is_no_link)),
      SABATH_FIELD(digest, .help = "its hash; a symlink has none", .absent_if_empty = true),
      SABATH_VALUE("chunks", chunks, .help = "the hash of each chunk of a file, if they were asked for",
                   .absent_if_empty = true),
  };
};

template <>
struct Described<ManifestShowRecord> {
  using Of = ManifestShowRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD_AS("files", totals.files, .help = "files that it names", .unit = "files"),
      SABATH_FIELD_AS("directories", totals.directories, .help = "directories that it names"),
      SABATH_FIELD_AS("symlinks", totals.symlinks, .help = "symlinks that it names"),
      SABATH_FIELD_AS("bytes", totals.bytes, .help = "of all files", .unit = "bytes"),
      SABATH_VALUE("note", note_json, .help = "an object: what its maker says of the asset; no hash covers it"),
      SABATH_FIELD(entries, .help = "depth first, in byte order of names: a directory before what is in it"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<ManifestDifference> {
  using Of = ManifestDifference;
  static constexpr Field table[] = {
      SABATH_FIELD(kind, .help = "added, removed or changed"),
      SABATH_FIELD(before, .help = "the entry of the first manifest; null: it has none"),
      SABATH_FIELD(after, .help = "the entry of the second manifest; null: it has none"),
  };
};

template <>
struct Described<ManifestDiffRecord> {
  using Of = ManifestDiffRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(before, .help = "the root of the first manifest"),
      SABATH_FIELD(after, .help = "the root of the second manifest"),
      SABATH_FIELD(differences, .help = "in the order of their paths; none: the manifests are the same"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

}  // namespace sabath
