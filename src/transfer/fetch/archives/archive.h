// Unpacks an archive (tar, also gzip, bzip2, xz, zstd; zip) into new objects, with a policy stricter than libarchive's
// flags.
//
// Taken: regular files, directories, relative symlinks inside the archive, hard links to files and symlinks before
// them. Of a name that a tar holds twice the later one counts, as it does for tar. Anything else, a name that leaves
// (docs: RelativePath), a file twice in a zip, or a bomb is Error{invalid}. Nothing is ever written under a name from
// the archive. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "fetch/archives/archive_stream.h"
#include "fetch/hosts/space_guard.h"
#include "sabath/path.h"
#include "store/pack_stream.h"
#include "store/store.h"

namespace sabath {

struct UnpackedEntry {
  RelativePath path;
  EntryType type = EntryType::file;
  FileTree tree;       // file, executable
  std::string target;  // symlink
};

struct Unpacked {
  std::vector<UnpackedEntry> entries;
  std::uint64_t files = 0;                             // regular ones
  std::vector<std::unique_ptr<ObjectWriter>> objects;  // finished, not yet published
  std::optional<PackStream> packs;                     // the small ones of many: not yet published either
};

// Reads the whole source in order, and some of a zip again after that. Passes what `read` throws unchanged.
[[nodiscard]] Unpacked unpack_archive(const std::string& name, const ReadAt& read, Store& store, SpaceGuard& space,
                                      std::stop_token stop);

}  // namespace sabath
