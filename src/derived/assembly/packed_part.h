// A package as it lies packed in the store: its files, and what the check of a whole environment asks of them. Kept as
// an index of the store under a key of all that decides its bytes; only notes of this user and of trusted owners are
// believed, as they name code. One thread. A note that is damaged or whose files are gone counts for nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "packing/elf_view.h"
#include "packing/mend_packages.h"
#include "store/store.h"

namespace sabath {

struct PackedFile {
  std::string path;  // below the prefix
  FileTree tree;
  bool executable = false;
};

struct PackedPart {
  std::string label;  // "flute 1.2"
  FoundPackage package;
  std::vector<PackedFile> files;
  std::map<std::string, ElfView> libraries;  // by path, as they came
  std::set<std::string> accepted;            // .pth files with code that were accepted
  std::vector<std::string> remarks;
  std::uint64_t compiled = 0, not_compiled = 0, libraries_changed = 0, scripts_changed = 0;
};

[[nodiscard]] std::string packed_part_text(const PackedPart& part);
[[nodiscard]] std::optional<PackedPart> try_packed_part(std::string_view text);

// With all of its files present.
[[nodiscard]] std::optional<PackedPart> find_part(Store& store, const Sha256& key);
void keep_part(Store& store, const Sha256& key, const PackedPart& part);
void add_part(ManifestBuilder& builder, const PackedPart& part);

}  // namespace sabath
