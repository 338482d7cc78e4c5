// A manifest: the resolved asset as a Merkle tree. Directories are nodes with sorted entries, paged by name, so
// that a difference costs time in proportion to what changed. Format and test vectors: docs/manifest.md.
//
// A Manifest is an open manifest file (or the same bytes in memory). Nodes are read on demand, and each one's hash is
// checked when it is read, so opening costs nothing, and reading a wrong node throws Error{invalid}. Immutable; any
// thread may read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"
#include "sabath/path.h"
#include "sabath/recipe.h"

namespace sabath {

enum class EntryType : std::uint8_t { file, executable, directory, symlink };

struct Entry {
  RelativePath path;  // full path inside the asset
  EntryType type = EntryType::file;
  Digest digest;            // file, executable; directory: its tree
  std::uint64_t files = 0;  // directory: files below
  std::string target;       // symlink
  [[nodiscard]] bool is_file() const { return type == EntryType::file || type == EntryType::executable; }
};

struct Totals {
  std::uint64_t files = 0, directories = 0, symlinks = 0, bytes = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
};

class Manifest {
 public:
  // Reads on demand; throws Error{invalid}, Error{storage}.
  [[nodiscard]] static Manifest open(const std::filesystem::path& file);
  [[nodiscard]] static Manifest parse(std::string bytes);  // the same format, from memory
  Manifest(Manifest&&) noexcept;
  Manifest& operator=(Manifest&&) noexcept;
  ~Manifest();

  [[nodiscard]] const Sha256& root() const noexcept;  // the asset's identity
  [[nodiscard]] Totals totals() const;                // from the root node alone
  // Every entry below the root, depth first, in byte order of names: a directory before its entries.
  void for_each(const std::function<void(const Entry&)>& visit) const;
  [[nodiscard]] std::optional<Entry> find(const RelativePath& path) const;  // reads O(depth) nodes
  [[nodiscard]] std::vector<Sha256> chunks(const Entry& file) const;  // the chunk layer, checked against the digest
  // Published whole-file checksums, by path. Not part of the root: never a proof that content is equal.
  [[nodiscard]] std::map<std::string, Checksums> checksums() const;
  // What its maker says of the asset as a whole: a JSON object, "" if there is none. Not part of the root either.
  [[nodiscard]] std::string note() const;
  void check() const;  // accepts only the bytes that a builder would write; throws Error{invalid}

  struct Nodes;  // node access for diff, inside src/core/manifest
  [[nodiscard]] const Nodes& nodes() const { return *nodes_; }

 private:
  explicit Manifest(std::unique_ptr<Nodes> nodes);
  std::unique_ptr<Nodes> nodes_;
};

// Finds many paths one after another: it keeps the page that it looked into last, so that the names of one directory,
// in their order, cost one page for hundreds. One thread; `manifest` outlives it.
class ManifestLookup {
 public:
  explicit ManifestLookup(const Manifest& manifest);
  ~ManifestLookup();
  [[nodiscard]] std::optional<Entry> find(const RelativePath& path);

 private:
  struct Page;
  const Manifest& manifest_;
  std::unique_ptr<Page> page_;
};

// Collects entries in any order and writes the canonical file. About 150 bytes an entry + the names + 32 bytes a chunk.
class ManifestBuilder {
 public:
  ManifestBuilder();
  ~ManifestBuilder();
  // `chunks` may be empty if the file has at most one chunk. Parents are made as needed.
  void add_file(const RelativePath& path, const Digest& digest, std::vector<Sha256> chunks, bool executable = false);
  void add_directory(const RelativePath& path);                    // for empty ones; harmless otherwise
  void add_symlink(const RelativePath& path, std::string target);  // throws Error{invalid} if it leaves the asset
  void add_checksums(const RelativePath& path, const Checksums& checksums);
  // A JSON object with sorted keys, without spaces and fractions; at most 1 MiB.
  void set_note(std::string note);
  // All entries of `other` below `prefix` (nullptr: at the root), without its note.
  void add_all(const Manifest& other, const RelativePath* prefix);
  // Writes the manifest file to `file` (created, fsynced; taken away again after a failure) and returns the root.
  // Throws Error{invalid} for a name twice or a file that is also a directory.
  Sha256 write(const std::filesystem::path& file);
  [[nodiscard]] std::string bytes();  // the same file in memory

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Difference {
  enum class Kind { added, removed, changed } kind;
  std::optional<Entry> before, after;
};
// Visits the differences in tree order, by path: files, symlinks, empty directories. Equal sub-trees and pages are
// skipped by hash.
void diff(const Manifest& before, const Manifest& after, const std::function<void(const Difference&)>& visit);

// Hashes a directory on disk with `threads` workers (0: as many as cores): regular files, directories, relative
// symlinks inside it. Throws Error{invalid} for a device, a socket or an escaping symlink, Error{changed} for a file
// that is being written. `on_bytes` may be empty; it is called from the workers, one at a time. After a failure the
// builder is spoilt.
void add_directory_tree(ManifestBuilder& builder, const std::filesystem::path& directory, unsigned threads,
                        const std::function<void(std::uint64_t)>& on_bytes);

}  // namespace sabath
