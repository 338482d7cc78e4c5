// The members of a remote tar, as far as its headers were read: their names and where their content begins, in the
// order of the archive. Format on disk: docs/store.md, "Indexes". A value; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/decide/archive_names.h"
#include "fetch/remote_tar/remote_tar_header.h"
#include "sabath/fetcher.h"

namespace sabath {

struct TarEntry {
  RelativePath path;
  EntryType type = EntryType::file;
  std::uint64_t offset = 0, size_bytes = 0;  // of a file's content; a hard link has those of its file
  std::string target;                        // symlink
  [[nodiscard]] bool is_file() const { return type == EntryType::file || type == EntryType::executable; }
};

inline constexpr std::uint64_t tar_index_size_max = 1ULL << 30;  // on disk

class TarIndex {
 public:
  // Of an archive of `size_bytes`, in this version.
  TarIndex(const std::string& archive, std::uint64_t size_bytes, Validators version);
  void add(const TarMember& member);  // the next one; throws Error{invalid} for what no archive may hold
  void pass(const TarMember& member) { next_ = member.next; }  // it has no place here
  void end();                                                  // there is none after these

  [[nodiscard]] const std::vector<TarEntry>& entries() const { return entries_; }
  [[nodiscard]] std::uint64_t next() const { return next_; }  // where the next header begins
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return size_; }
  [[nodiscard]] const Validators& version() const { return version_; }

  [[nodiscard]] std::string encode() const;
  // nullopt: damaged, of another format, or not what this program would write.
  [[nodiscard]] static std::optional<TarIndex> try_decode(const std::string& archive, std::string_view bytes);

 private:
  void add(TarEntry entry);
  void read_entries(std::string_view bytes);

  ArchiveNames names_;
  std::vector<TarEntry> entries_;
  std::uint64_t size_, next_ = 0, encoded_size_ = 0;
  Validators version_;
  bool complete_ = false;
};

}  // namespace sabath
