// Several stores, one lookup: content that this store lacks is taken from the others of a list, in their order; only
// facts are written to them. docs/store.md, "Several stores". Any thread but for look_also(). Throws Error{space},
// Error{storage}, Error{invalid}.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace sabath {

struct Lookup {
  std::vector<std::filesystem::path> others;  // stores; one that cannot be opened is skipped
  std::vector<uid_t> trusted;                 // owners, besides this user and root
};

// The directory to write to: the first that is a store or may become one, and may be written; the first of all if there
// is none. `stores` is not empty.
[[nodiscard]] std::size_t first_writable(const std::vector<std::filesystem::path>& stores);

// Before the store is used, by one thread. Returns the existing directories that it skipped, for people.
std::vector<std::filesystem::path> look_also(Store& store, const Lookup& lookup);

// The same with an open store, for a process that writes to both: content published there is known here at once.
Store& look_also(Store& store, std::unique_ptr<Store> other);

// Makes content of another store an object of this one: a clone; a hard link, if the file is ours; a symlink, if its
// owner is trusted; else a copy that is hashed as it is written. Without trusted evidence it hashes first. False: no
// store holds it.
[[nodiscard]] bool bring(Store::State& store, const Digest& file);

// The same for all files of an asset; content in another store's packs comes in groups.
void bring_all(Store& store, const Manifest& manifest);

// Checked wholly; a process with an open lease (a fetch) keeps it here, if this store can be written.
[[nodiscard]] std::optional<Manifest> manifest_of_another(Store::State& store, const Sha256& root);
// Writes the whole manifest under its name in the store.
void keep_manifest(Store::State& store, const std::string& bytes, const Sha256& root);

// The view of another store, if it is whole and none but trusted owners can change its top.
[[nodiscard]] std::optional<std::filesystem::path> view_of_another(Store& store, const Manifest& manifest);
// This store's, or another's, if one stands; not looked into.
[[nodiscard]] std::optional<std::filesystem::path> standing_view(Store& store, const Sha256& root);

}  // namespace sabath
