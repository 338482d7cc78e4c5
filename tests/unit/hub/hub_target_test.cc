#include "hub/hub_target.h"

#include <gtest/gtest.h>

#include <random>

#include "hub/revision.h"
#include "sabath/path.h"

namespace sabath {
namespace {

using What = HubTarget::What;

TEST(HubTarget, PathsOfTheHub) {
  struct Case {
    const char* path;
    What what;
    const char *kind, *repository, *revision, *below;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"/api/models/acme/net", What::info, "models", "acme/net", "main", ""},
           {"/api/models/gpt2", What::info, "models", "gpt2", "main", ""},
           {"/api/datasets/acme/set/revision/v1", What::info, "datasets", "acme/set", "v1", ""},
           {"/api/models/acme/net/revision/refs%2Fpr%2F1", What::info, "models", "acme/net", "refs/pr/1", ""},
           {"/api/models/acme/net/tree/main", What::tree, "models", "acme/net", "main", ""},
           {"/api/models/acme/net/tree/main/a/b", What::tree, "models", "acme/net", "main", "a/b"},
           {"/acme/net/resolve/main/config.json", What::content, "models", "acme/net", "main", "config.json"},
           {"/gpt2/resolve/main/a%20b/c", What::content, "models", "gpt2", "main", "a b/c"},
           {"/datasets/acme/set/resolve/main/x%2Fy", What::content, "datasets", "acme/set", "main", "x/y"},
           {"/datasets/set/resolve/main/x", What::content, "datasets", "set", "main", "x"},
           {"/spaces/acme/app/resolve/main/x", What::content, "spaces", "acme/app", "main", "x"},
       }) {
    const auto target = try_parse_hub_target(c.path);
    ASSERT_TRUE(target) << c.path;
    EXPECT_EQ(target->what, c.what) << c.path;
    EXPECT_EQ(target->kind, c.kind) << c.path;
    EXPECT_EQ(target->repository, c.repository) << c.path;
    EXPECT_EQ(target->revision, c.revision) << c.path;
    EXPECT_EQ(target->path, c.below) << c.path;
  }
}

TEST(HubTarget, OtherPaths) {
  for (const char* path : {"",
                           "/",
                           "//",
                           "/api",
                           "/api/",
                           "/api/models",
                           "/api/models/",
                           "/api/models/..",
                           "/api/x/a/b",
                           "/api/models/a/b/tree",
                           "/api/models/a/b/tree/",
                           "/api/models/a/b/revision/",
                           "/api/models/a/b/revision/main/x",
                           "/a/b/resolve/main",
                           "/a/b/resolve/main/",
                           "/a/b/resolve//x",
                           "/a/b/resolve/main/../x",
                           "/a/b/resolve/main/%2e%2e/x",
                           "/a/b/resolve/main/x%",
                           "/a/b/resolve/main/x%0",
                           "/a/b/resolve/main/x%zz",
                           "/a/b/resolve/main/x%00",
                           "/a/b/resolve/main/%0a",
                           "/a/b/resolve/-o/x",
                           "/a/b/blob/main/x",
                           "/a--b/c/resolve/main/x",
                           "/a/b/c/resolve/main/x",
                           "a/b/resolve/main/x"})
    EXPECT_FALSE(try_parse_hub_target(path)) << path;
}

// Of any text only what the grammar allows is taken.
TEST(HubTarget, OfAnyTextOnlySoundPartsComeOut) {
  const std::uint64_t seed = 4711;
  std::mt19937_64 random(seed);
  const std::vector<std::string> parts{"/",  "api", "models", "datasets", "resolve", "tree", "revision", "main",
                                       "..", "a",   "%2e",    "%2F",      "%00",     "--",   ".",        "x y",
                                       "%",  "\n",  "ü",      "acme",     "net",     "?",    "\\",       "-"};
  unsigned taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string path;
    for (std::uint64_t n = random() % 12; n > 0; --n)
      path += (random() % 3 == 0 ? "" : "/") + parts[random() % parts.size()];
    const auto target = try_parse_hub_target(path);
    if (!target) continue;
    ++taken;
    EXPECT_TRUE(is_hub_kind(target->kind) && is_hub_repository(target->repository) && is_hub_revision(target->revision))
        << path;
    EXPECT_TRUE(target->path.empty() || RelativePath::try_parse(target->path)) << path;
  }
  EXPECT_GT(taken, 0U);
}

}  // namespace
}  // namespace sabath
