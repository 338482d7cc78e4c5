// Manifests: files that name by hash all that a directory or an asset holds (docs/manifest.md). Any thread, one call of
// a Session at a time. A manifest is named by a file, by an asset of the store, or by "sha256:<hex>" of the store.
//
// Throws Error{not_found}, Error{offline} for what the store lacks, Error{invalid} for a damaged manifest,
// Error{usage}, Error{storage}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "sabath/event.h"
#include "sabath/supporting.h"

namespace sabath {

class Session;

inline constexpr unsigned hashing_threads_max = 1024;

struct ManifestTotals {
  std::uint64_t files = 0, directories = 0, symlinks = 0, bytes = 0;
};

struct ManifestEntry {
  std::string path;
  std::string type;                           // "file", "executable", "directory", "symlink"
  std::uint64_t size = 0;                     // bytes; of a directory, of all files below it
  std::optional<Sha256> digest;               // a symlink has none
  std::string target;                         // of a symlink
  std::optional<std::vector<Sha256>> chunks;  // of a file, where they were asked for: one for each chunk_size_bytes
};

// Hashes a directory, or one file, into a manifest file. Events: bytes received are bytes hashed.
struct ManifestCreateRequest {
  std::filesystem::path path;
  std::filesystem::path output;  // replaced as a whole, or not at all
  unsigned threads = 0;          // that read and hash, at most hashing_threads_max; 0: one a core
};
struct ManifestCreateRecord {
  Sha256 manifest;
  std::filesystem::path file;
  ManifestTotals totals;
  int exit = 0;
};

// The whole manifest is checked before its first entry is told.
struct ManifestShowRecord {
  Sha256 manifest;
  ManifestTotals totals;
  // What the manifest's maker says of the asset as a whole, a JSON object; "": nothing. No hash covers it.
  std::string note;
  std::optional<DerivationStep> derived;  // the step of a derived asset, where the note has one
  std::vector<ManifestEntry> entries;     // depth first, in byte order of names: a directory before what is in it
  int exit = 0;
};
struct ManifestShowRequest {
  std::string manifest;
  bool chunks = false;
  // Is told each entry, which the record then does not keep: a million of them need no memory. `head` has all but them.
  std::function<void(const ManifestShowRecord& head, const ManifestEntry&)> on_entry;
};

// In the order of their paths. Equal sub-trees are not read.
struct ManifestDifference {
  std::string kind;                            // "added", "removed", "changed"
  std::optional<ManifestEntry> before, after;  // absent: there is none
};
struct ManifestDiffRecord {
  Sha256 before, after;
  std::vector<ManifestDifference> differences;
  int exit = 0;
};
struct ManifestDiffRequest {
  std::string before, after;
  bool exit_code = false;  // a difference is a failure: the record's exit is then that of wrong content
  std::function<void(const ManifestDiffRecord& head, const ManifestDifference&)> on_difference;  // like on_entry
};

// Compares a directory, or one file, with a manifest. The record has the differences; exit says how bad they are.
struct ManifestVerifyRequest {
  std::string manifest;
  std::filesystem::path path;
  bool allow_extra = false;  // what the manifest does not name is no failure
  unsigned threads = 0;      // as of ManifestCreateRequest
};
struct ManifestVerifyRecord {
  struct Bad {
    std::string path, what;
    std::optional<std::uint64_t> chunk;  // its number; absent: the file as a whole
  };
  Sha256 manifest;
  std::filesystem::path path;
  std::uint64_t files = 0, bytes = 0;  // that the manifest names
  std::vector<Bad> bad;
  std::vector<std::string> missing, extra;
  int exit = 0;
};

// Writes what a manifest names in the words of other tools. The content must be in the store: it is read and checked.
// One of the three is written.
struct ManifestExportRequest {
  std::string manifest;
  std::filesystem::path metalink{};  // this file, replaced: RFC 5854
  std::filesystem::path links{};     // this file, replaced: the headers Link and Digest of each file, RFC 6249
  std::filesystem::path bag{};       // a BagIt bag, RFC 8493: this directory, made; with a URL it has no payload
  std::vector<std::string> urls;     // the files stand at URL + path; each ends in '/'; several are mirrors
};
struct ManifestExportRecord {
  Sha256 manifest;
  std::filesystem::path written;
  std::uint64_t files = 0, bytes = 0;
  int exit = 0;
};

[[nodiscard]] ManifestCreateRecord manifest_create(Session& session, const ManifestCreateRequest& request,
                                                   EventSink& events, std::stop_token stop = {});
[[nodiscard]] ManifestShowRecord manifest_show(Session& session, const ManifestShowRequest& request, EventSink& events,
                                               std::stop_token stop = {});
[[nodiscard]] ManifestDiffRecord manifest_diff(Session& session, const ManifestDiffRequest& request, EventSink& events,
                                               std::stop_token stop = {});
[[nodiscard]] ManifestVerifyRecord manifest_verify(Session& session, const ManifestVerifyRequest& request,
                                                   EventSink& events, std::stop_token stop = {});
[[nodiscard]] ManifestExportRecord manifest_export(Session& session, const ManifestExportRequest& request,
                                                   EventSink& events, std::stop_token stop = {});

[[nodiscard]] std::string to_json(const ManifestCreateRecord& record);
[[nodiscard]] std::string to_json(const ManifestShowRecord& record);
[[nodiscard]] std::string to_json(const ManifestDiffRecord& record);
[[nodiscard]] std::string to_json(const ManifestVerifyRecord& record);
[[nodiscard]] std::string to_json(const ManifestExportRecord& record);

}  // namespace sabath
