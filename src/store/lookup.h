// Several stores, one lookup: what this store lacks is taken from the others of a list, in their order, and nothing is
// written to them but facts. docs/store.md, "Several stores". Any thread but for look_also(). Throws Error{space},
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
  std::vector<std::filesystem::path> others;  // stores; what cannot be opened as one is passed over
  std::vector<uid_t> trusted;                 // owners, besides this user and root
};

// Which of these directories is written to: the first that is a store or may become one, and may be written; the first
// of all if there is none. `stores` is not empty.
[[nodiscard]] std::size_t first_writable(const std::vector<std::filesystem::path>& stores);

// Before the store is used, by one thread. Returns what was passed over although it is there, for people.
std::vector<std::filesystem::path> look_also(Store& store, const Lookup& lookup);

// The same with a store that is open already, for whoever writes to both: what it publishes is known here at once.
Store& look_also(Store& store, std::unique_ptr<Store> other);

// Content that another store holds becomes an object of this one: a clone; a hard link, if the file is ours; a symlink,
// if its owner is trusted; else a copy that is hashed as it is written. Without evidence that is trusted it is hashed
// first. False: none holds it.
[[nodiscard]] bool bring(Store::State& store, const Digest& file);

// The same for all files of an asset; what stands in another store's packs comes in groups.
void bring_all(Store& store, const Manifest& manifest);

// Checked wholly; whoever has an open lease (a fetch) keeps it here, if this store can be written.
[[nodiscard]] std::optional<Manifest> manifest_of_another(Store::State& store, const Sha256& root);
// The whole manifest gets its name in the store.
void keep_manifest(Store::State& store, const std::string& bytes, const Sha256& root);

// The view of another store, if it is whole and none but trusted owners can change its top.
[[nodiscard]] std::optional<std::filesystem::path> view_of_another(Store& store, const Manifest& manifest);
// This store's, or another's, if one stands; not looked into.
[[nodiscard]] std::optional<std::filesystem::path> standing_view(Store& store, const Sha256& root);

}  // namespace sabath
