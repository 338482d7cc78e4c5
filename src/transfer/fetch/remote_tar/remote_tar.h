// An uncompressed tar on a server with byte ranges: finds its members without moving the bytes between their headers.
// The store keeps what the headers said (docs/store.md, "Indexes"): a walk goes on where the last ended.
//
// One thread. Throws Error{invalid} for bytes that are no tar or hold what no archive may hold, Error{usage} for a
// packed archive, Error{unavailable} for a server without ranges, Error{changed} if the source is not the version that
// the index is of, and what reading throws.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fetch/hosts/context.h"
#include "fetch/remote_tar/remote_tar_index.h"
#include "fetch/remote_tar/remote_tar_reader.h"
#include "sabath/digest.h"

namespace sabath {

class RemoteTar {
 public:
  struct Source {
    std::string name;  // for people
    Url url;           // after rewrite rules
    Sha256 key;        // of the index: tar_index_key()
    std::optional<std::uint64_t> size_bytes;
    bool fresh = false;  // believe no index that was kept
    // Of a name that no file may have: whether it was asked for, which is refused. Empty: all are.
    std::function<bool(const std::string& name)> wants_name = {};
  };
  RemoteTar(FetchContext& context, Source source);

  // The places of the wanted files and symlinks, in the order of the archive; not past the `sample`-th file.
  [[nodiscard]] std::vector<std::size_t> choose(const std::function<bool(const TarEntry&)>& wanted,
                                                std::optional<std::uint64_t> sample);
  [[nodiscard]] const TarIndex& index() const { return *index_; }
  // The content of a file as far as it was read on the way; nullopt: it was not.
  [[nodiscard]] std::optional<std::vector<std::byte>> try_content(const TarEntry& file) const {
    return reader_.try_copy(file.offset, file.size_bytes);
  }

 private:
  void open();
  void walk_on(const std::function<bool(const TarEntry&)>& wanted, std::optional<std::uint64_t> sample,
               std::vector<std::size_t>& chosen, std::uint64_t& files);
  void take(const TarMember& member);
  void keep_index();

  FetchContext& context_;
  const Source source_;
  RemoteTarReader reader_;
  std::optional<TarIndex> index_;
  std::uint64_t kept_to_ = 0;  // what the index in the store covers
  bool passed_ = false;        // a name that another selection may ask for is in no index
};

}  // namespace sabath
