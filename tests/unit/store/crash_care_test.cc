// Collection, undoing it, pins, quarantine and repair, killed at the n-th call of each kind that changes the store, for
// every n: the store verifies, and the next run ends what was begun. With SABATH_CRASH_ROUNDS also at every openat(2).
#include <fcntl.h>

#include <cstdlib>
#include <filesystem>

#include "base/hash.h"
#include "store/collect/collect.h"
#include "store/disk/layout.h"
#include "store/leases/uses.h"
#include "store/pins.h"
#include "store_fixture.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t large_size = 2 * chunk_size_bytes + 99;

class CrashOfCare : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_program("strace").empty()) GTEST_SKIP() << "strace is not installed";
    calls_ = {"mkdir",     "rename",    "renameat2", "link",   "linkat",   "symlinkat", "unlink",
              "unlinkat",  "rmdir",     "fsync",     "syncfs", "fchmod",   "chmod",     "fchmodat",
              "ftruncate", "fallocate", "pwrite64",  "write",  "utimensat"};
    if (std::getenv("SABATH_CRASH_ROUNDS") != nullptr) calls_.emplace_back("openat");
  }

  // An asset that is kept, one that may go, an object without a name, and a partial of a dead writer.
  void fill(const fs::path& at) {
    fs::remove_all(at);
    auto store = Store::open(at, true);
    const auto put = [&](std::string_view bytes) {
      auto writer = store->write_object();
      writer->write(bytes_of(bytes));
      FileTree tree = writer->finish();
      std::vector<std::unique_ptr<ObjectWriter>> group;
      group.push_back(std::move(writer));
      store->publish(std::move(group));
      return tree;
    };
    const auto add = [&](const std::string& own) {
      ManifestBuilder builder;
      for (const std::string& content : {own, std::string("shared")}) {
        const auto tree = put(content);
        builder.add_file(RelativePath::parse(content), tree.digest, tree.chunks);
      }
      const Sha256 root = store->put_manifest(builder);
      store->put_ref(sha256(own), {root, "checksum", {}, 0, "https://a.example/x", ""});
      (void)store->make_view(*store->manifest(root));
      return root;
    };
    kept_ = add("kept");
    gone_ = add("gone");
    put_pin(*store, {kept_, "kept", 0});
    put("loose");
    auto dead = WriterId::of_this_process();
    dead.start_time += 1;
    const auto stale = Layout(at).partial(sha256("stale")) / (dead.text() + "+0");
    fs::create_directories(stale);
    write_file(stale / "data", "x");
  }

  static bool whole(Store& store, const Sha256& root) {
    const auto manifest = store.manifest(root);
    return manifest && store.view_present(*manifest);
  }

  // Kills `work` at each point; then `work` runs to its end, and `check` looks.
  void sweep(const std::vector<std::string>& work, const std::function<void(const fs::path&)>& prepare,
             const std::function<void(Store&, const std::string&)>& check, bool bad_before = false) {
    constexpr int sweep_max = 400;
    const fs::path at = temp_ / "swept";
    int points = 0;
    for (const auto& call : calls_) {
      for (int n = 1; n <= sweep_max; ++n) {
        prepare(at);
        std::vector<std::string> command{"strace",
                                         "-f",
                                         "-qq",
                                         "-o",
                                         "/dev/null",
                                         "-E",
                                         "ASAN_OPTIONS=detect_leaks=0",
                                         "-e",
                                         "trace=" + call,
                                         "-e",
                                         "inject=" + call + ":signal=KILL:when=" + std::to_string(n)};
        auto child = work;
        child.insert(child.begin() + 1, at);
        child = child_command(child);
        command.insert(command.end(), child.begin(), child.end());
        if (ChildProcess(command, temp_ / "log").wait() == 0) break;  // there is no n-th
        if (read_file(temp_ / "log").find("ptrace") != std::string::npos) GTEST_SKIP() << "ptrace is refused";
        ++points;
        const std::string where = work[0] + " " + call + " " + std::to_string(n);
        if (!bad_before) {
          const auto killed = Store::open(at, false);
          for (const auto& bad : killed->verify(nullptr, 1, {}).bad)
            ADD_FAILURE() << where << ": " << bad.path << bad.what;
        }
        ASSERT_EQ(ChildProcess(child, temp_ / "log").wait(), 0) << where << read_file(temp_ / "log");
        const auto swept = Store::open(at, false);
        check(*swept, where);
        EXPECT_TRUE(swept->verify(nullptr, 1, {}).bad.empty()) << where;
        EXPECT_TRUE(files_below(at / "tmp").empty()) << where;
        EXPECT_TRUE(files_below(at / "leases").empty()) << where;
      }
    }
    std::printf("%s: killed at %d points\n", work[0].c_str(), points);
    EXPECT_GT(points, 0);
  }

  TempDir temp_;
  std::vector<std::string> calls_;
  Sha256 kept_, gone_;
};

TEST_F(CrashOfCare, Collect) {
  sweep(
      {"collect", "9"}, [this](const fs::path& at) { fill(at); },
      [this](Store& store, const std::string& where) {
        // What the killed one had begun is deleted by the one after the next: its window began when it was found.
        CollectPolicy policy;
        policy.older_than = policy.grace = policy.partial_grace = policy.undo_window = std::chrono::seconds(0);
        policy.now = true;
        (void)collect(store, policy);
        EXPECT_TRUE(whole(store, kept_)) << where;
        EXPECT_FALSE(store.manifest(gone_)) << where;
        EXPECT_EQ(store.usage().objects, 2U) << where;
        EXPECT_TRUE(files_below(store.directory() / "trash").empty()) << where;
        EXPECT_TRUE(files_below(store.directory() / "partial").empty()) << where;
      });
}

TEST_F(CrashOfCare, Undo) {
  const auto prepare = [this](const fs::path& at) {
    fill(at);
    CollectPolicy policy;
    policy.older_than = policy.grace = std::chrono::seconds(0);
    (void)collect(*Store::open(at, false), policy);
  };
  sweep({"undo", "9"}, prepare, [this](Store& store, const std::string& where) {
    EXPECT_TRUE(whole(store, kept_) && whole(store, gone_)) << where;
    EXPECT_EQ(store.usage().objects, 4U) << where;
    EXPECT_TRUE(files_below(store.directory() / "trash").empty()) << where;
  });
}

TEST_F(CrashOfCare, PinAndUnpin) {
  sweep(
      {"pin", "9"}, [this](const fs::path& at) { fill(at); },
      [](Store& store, const std::string& where) { EXPECT_EQ(read_pins(store).size(), 2U) << where; });
  const auto pinned = [this](const fs::path& at) {
    fill(at);
    put_pin(*Store::open(at, false), {sha256("kept"), "kept", 0});
  };
  sweep({"unpin", "9"}, pinned,
        [](Store& store, const std::string& where) { EXPECT_EQ(read_pins(store).size(), 1U) << where; });
}

TEST_F(CrashOfCare, QuarantineAndRepair) {
  const std::string bytes = seeded_bytes(9, 0, large_size);
  const FileTree tree = tree_of(bytes);
  const auto prepare = [&](const fs::path& at) {
    fs::remove_all(at);
    const auto store = Store::open(at, true);
    {
      const auto partial = store->open_partial(tree.digest, tree.chunks);
      for (std::uint64_t i = 0; i < tree.chunks.size(); ++i) {
        const auto chunk = bytes_of(bytes).subspan(i * chunk_size_bytes, chunk_length(large_size, i));
        partial->write_chunk(0, i, chunk, tree.chunks[i]);
      }
      partial->publish();
    }
    ManifestBuilder builder;
    builder.add_file(RelativePath::parse("large"), tree.digest, tree.chunks);
    (void)store->make_view(*store->manifest(store->put_manifest(builder)));
    StoreFixture::tamper(store->object_path(tree.digest), chunk_size_bytes + 5);
  };
  sweep(
      {"repair", "9", std::to_string(large_size)}, prepare,
      [&](Store& store, const std::string& where) {
        EXPECT_TRUE(store.present(tree.digest)) << where;
        EXPECT_TRUE(files_below(store.directory() / "partial").empty()) << where;
      },
      true);
}

}  // namespace
}  // namespace sabath::test
