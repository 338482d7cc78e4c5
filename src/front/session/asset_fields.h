// What a fetch says of one asset, as it stands in records and in the log of the store: docs/records.md.
#pragma once

#include "fields/asset_kind.h"
#include "fields/failure.h"
#include "sabath/session.h"

namespace sabath {

template <>
struct Described<Selection> {
  using Of = Selection;
  static constexpr Field table[] = {
      SABATH_FIELD(sample, .help = "the first files of each archive and list, and of the single files; null: all",
                   .unit = "files"),
      SABATH_FIELD(select, .help = "patterns of paths in the asset"),
  };
};

inline std::optional<bool> believed_or_null(const SourceRecord& source) {
  return source.believed ? std::optional(true) : std::nullopt;
}

template <>
struct Described<SourceRecord> {
  using Of = SourceRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(url, .help = "as contacted, after rewrite rules, without its query"),
      SABATH_FIELD(bytes, .help = "payload that it gave", .unit = "bytes"),
      SABATH_FIELD(requests, .help = "that were made; each redirect is one"),
      SABATH_FIELD(failures, .help = "requests that failed"),
      SABATH_FIELD(demoted, .help = "it gave wrong content"),
      SABATH_FIELD(reason, .help = "its last failure", .null_if_empty = true),
      SABATH_VALUE("believed", believed_or_null,
                   .help = "true, only where it is: no checksum and no pin proves what it gave",
                   .absent_if_empty = true),
  };
};

template <>
struct Described<ResolvedSource> {
  using Of = ResolvedSource;
  static constexpr Field table[] = {
      SABATH_FIELD(url, .help = "a URL of many files"),
      SABATH_FIELD(version, .help = "what it meant: a commit, a digest", .null_if_empty = true),
  };
};

template <>
struct Described<FileFailure> {
  using Of = FileFailure;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "in the asset; or the id of a fragment"),
      SABATH_FIELD_AS("kind", failure.kind, .help = "the kind, as docs/exit-codes.md has them"),
      SABATH_FIELD_AS("message", failure.message, .help = "one line"),
      SABATH_FIELD_AS("hint", failure.hint, .help = "what to do next", .null_if_empty = true),
  };
};

template <>
struct Described<ReusedBytes> {
  using Of = ReusedBytes;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("source", at(0), .help = "these very sources gave it before", .unit = "bytes"),
      SABATH_FIELD_AS("content", at(1), .help = "it is here from another source or asset", .unit = "bytes"),
      SABATH_FIELD_AS("chunk", at(2), .help = "other objects hold the same chunk", .unit = "bytes"),
      SABATH_FIELD_AS("partial", at(3), .help = "an earlier try left it, or another process brought it",
                      .unit = "bytes"),
  };
};

inline std::optional<Selection> part_or_null(const AssetRecord& asset) {
  return asset.selection.empty() ? std::nullopt : std::optional(asset.selection);
}
inline std::optional<std::uint64_t> view_inodes_or_null(const AssetRecord& asset) {
  return asset.packed ? std::optional(asset.view_inodes) : std::nullopt;
}
inline std::uint64_t sum_of_reused(const AssetRecord& asset) { return asset.reused_bytes(); }

template <>
struct Described<AssetRecord> {
  using Of = AssetRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the recipe"),
      SABATH_FIELD(kind, .help = "of the recipe"),
      SABATH_FIELD(manifest, .help = "its root; null: it is not known", .null_if_empty = true),
      SABATH_FIELD(path, .help = "the view; null: there is none", .null_if_empty = true),
      SABATH_FIELD(trusted_by, .help = "why the root is believed, the weakest reason of all fragments",
                   .null_if_empty = true),
      SABATH_VALUE("selection", part_or_null,
                   .help = "if a part of the asset was asked for: the root, the view and the sizes are of this part"),
      SABATH_FIELD(packed, .help = "its files are in packs, and no view was made"),
      SABATH_VALUE("view_inodes", view_inodes_or_null, .help = "what the view of such an asset takes",
                   .unit = "inodes"),
      SABATH_FIELD(files, .help = "in the view; after a failure: those that are done", .unit = "files"),
      SABATH_FIELD(bytes, .help = "of these files", .unit = "bytes"),
      SABATH_FIELD(fetched_bytes, .help = "payload on the wire, counted where it was received", .unit = "bytes"),
      SABATH_VALUE("reused_bytes", sum_of_reused, .help = "not moved again: the sum of `reused`", .unit = "bytes"),
      SABATH_FIELD(reused, .help = "why it was not moved again"),
      SABATH_FIELD(to_fetch_bytes, .help = "of a dry run: what would be moved; null: a size is not known",
                   .unit = "bytes"),
      SABATH_FIELD(seconds, .help = "wall time of this asset", .unit = "seconds"),
      SABATH_FIELD(sources, .help = "what each source gave; files of a list are counted together by origin"),
      SABATH_FIELD(resolved, .help = "URLs of many files that were asked in this call"),
      SABATH_FIELD(failures, .help = "what is missing, and why"),
  };
};

}  // namespace sabath
