// A store into which many small files are put together. For tests; one thread.
#pragma once

#include "store/disk/layout.h"
#include "store_fixture.h"

namespace sabath::test {

struct PacksFixture : StoreFixture {
  static constexpr std::size_t many = pack_files_min + 24;

  static std::string content(std::size_t i, std::uint64_t salt = 0) {
    return i == 0 ? "" : i % 2 == 0 ? std::string(i, 'x') + std::to_string(salt + i) : seeded_bytes(salt + i, 0, i);
  }
  // Publishes `count` small files together; their digests, in order.
  std::vector<Digest> put_many(std::uint64_t salt = 0, std::size_t count = many) {
    std::vector<std::unique_ptr<ObjectWriter>> group;
    std::vector<Digest> digests;
    for (std::size_t i = 0; i < count; ++i) {
      auto writer = store->write_object(many);
      writer->write(bytes_of(content(i, salt)));
      digests.push_back(writer->finish().digest);
      group.push_back(std::move(writer));
    }
    store->publish(std::move(group), many);
    return digests;
  }
  [[nodiscard]] std::string text(const Digest& digest) const { return store->text_of(digest, 1 << 22).value_or("-"); }
  [[nodiscard]] std::vector<std::filesystem::path> packs() const {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory / "packs", error))
      found.push_back(entry.path());
    return found;
  }
};

}  // namespace sabath::test
