// A store, a file of four chunks for it, and who writes them. For tests; one thread.
#pragma once

#include "base/hash.h"
#include "store/disk/layout.h"
#include "store/partials/journal.h"
#include "store_fixture.h"

namespace sabath::test {

struct Partials : StoreFixture {
  static constexpr std::uint64_t size = 3 * chunk_size_bytes + 1000;
  const std::string bytes = seeded_bytes(1, 0, size);
  const FileTree tree = tree_of(bytes);
  const Sha256 key = sha256("source");
  const SourceVersion version{{"\"v1\"", "Mon, 01 Jan 2024 00:00:00 GMT"}, "somebody"};

  [[nodiscard]] std::span<const std::byte> chunk(std::uint64_t i) const {
    return bytes_of(bytes).subspan(i * chunk_size_bytes, chunk_length(size, i));
  }
  void write(ChunkFile& partial, std::uint64_t i) const { partial.write_chunk(0, i, chunk(i), tree.chunks[i]); }
  [[nodiscard]] std::unique_ptr<SharedPartial> known(Store& in) const {
    return in.open_partial(tree.digest, tree.chunks);
  }
  [[nodiscard]] std::filesystem::path known_directory() const { return Layout(directory).partial(tree.digest); }
  // A journal of a writer of another machine, and what it says.
  [[nodiscard]] JournalWriter foreign_journal(const std::string& host) const {
    WriterId writer = WriterId::of_this_process();
    writer.host.name = host;
    return {known_directory() / journal_name(writer.text()), tree.digest.hash, 1};
  }
};

}  // namespace sabath::test
