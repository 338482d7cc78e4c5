// An archive's entries, one behind the other as they stream out of libarchive, for a reader that judges them itself:
// names, links and kinds are the archive's own. One thread. Throws Error{invalid} for what is damaged, and what `read`
// and the visitor throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fetch/archives/archive_stream.h"

namespace sabath {

struct ArchiveItem {
  enum class Kind : std::uint8_t { file, folder, symlink, hard_link, other };
  Kind kind = Kind::file;
  std::string name, target;  // target: of links
  bool executable = false;
};

class ArchiveVisitor {
 public:
  virtual ~ArchiveVisitor() = default;
  virtual void begin(const ArchiveItem& item) = 0;
  virtual void write(std::span<const std::byte> bytes) = 0;  // of a file; holes are zeros
  virtual void end() = 0;                                    // of a file
};

void visit_archive(const std::string& name, const ReadAt& read, ArchiveVisitor& visitor);

}  // namespace sabath
