// A store with assets that were used at different times. For tests; one thread.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/hash.h"
#include "store/collect/collect.h"
#include "store/disk/layout.h"
#include "store/leases/uses.h"
#include "store_fixture.h"

namespace sabath::test {

struct CollectFixture : StoreFixture {
  const Layout layout{directory};
  CollectPolicy policy;

  void SetUp() override {
    policy.grace = std::chrono::seconds(0);
    policy.partial_grace = std::chrono::seconds(0);
  }

  // An asset of these files, each with its path as content, last used `hours_ago` hours ago.
  Sha256 add(const std::vector<std::string>& contents, int hours_ago, const std::string& source = "https://a.example/x",
             const std::string& trusted_by = "checksum") {
    ManifestBuilder builder;
    std::string name;
    for (const auto& content : contents) {
      const auto tree = put(content);
      builder.add_file(RelativePath::parse("f" + std::to_string(name.size())), tree.digest, tree.chunks);
      name += content.substr(0, 8) + "+";
    }
    const Sha256 root = store->put_manifest(builder);
    store->put_ref(sha256(name), {root, trusted_by, {}, 0, source, ""});
    (void)store->make_view(*store->manifest(root));
    mark_used(layout, root);
    age(layout.used(root), hours_ago);
    return root;
  }
  static void age(const std::filesystem::path& file, int hours_ago) {
    struct stat s {};
    ASSERT_EQ(::lstat(file.c_str(), &s), 0);
    const std::array<timespec, 2> times{timespec{s.st_mtim.tv_sec - 3600L * hours_ago, 0},
                                        timespec{s.st_mtim.tv_sec - 3600L * hours_ago, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  }
  CollectReport run() { return collect(*store, policy); }
  bool whole(const Sha256& root) {
    const auto manifest = store->manifest(root);
    return manifest && store->view_present(*manifest);
  }
  std::vector<std::string> trashed() { return files_below(directory / "trash"); }
};

}  // namespace sabath::test
