// A store in a temporary directory, and short ways to fill it. For tests; one thread.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "sabath/error.h"
#include "store/disk/owners.h"
#include "store/store.h"
#include "support/process.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {

inline const Owners owners;                             // this user, and root
inline constexpr std::chrono::milliseconds at_once{0};  // scratch of a part that has just begun, too
[[nodiscard]] FileTree tree_of(std::string_view bytes);
[[nodiscard]] std::string read_file(const std::filesystem::path& file);
[[nodiscard]] std::span<const std::byte> bytes_of(std::string_view text);
[[nodiscard]] FailureKind kind_of(const std::function<void()>& call);  // of the Error that it must throw
// Regular files below, without verified/ and tmp/: what an outsider could take for content.
[[nodiscard]] std::vector<std::string> files_below(const std::filesystem::path& directory);

struct StoreFixture : ::testing::Test {
  TempDir temp;
  std::filesystem::path directory = temp / "store";
  std::unique_ptr<Store> store = Store::open(directory, true);

  void reopen();
  FileTree put(std::string_view bytes);
  [[nodiscard]] std::string object(const Digest& digest) const { return read_file(store->object_path(digest)); }
  // Changes one byte of a published file, then puts size, mtime and mode back as they were.
  static void tamper(const std::filesystem::path& file, std::uint64_t offset);
};

// The small program that tests kill.
[[nodiscard]] std::vector<std::string> child_command(std::vector<std::string> arguments);

}  // namespace sabath::test
