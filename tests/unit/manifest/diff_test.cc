#include <gtest/gtest.h>

#include "plain_tree.h"

namespace sabath {
namespace {

using test::PlainTree;

std::string line(Difference::Kind kind, const std::string& path) {
  return fmt::format("{}{}", "+-~"[static_cast<int>(kind)], path);
}

std::vector<std::string> naive_diff(const PlainTree& before, const PlainTree& after) {
  std::vector<std::string> lines;
  PlainTree all = before;
  all.insert(after.begin(), after.end());
  for (const auto& [path, plain] : all) {
    const auto old = before.find(path), now = after.find(path);
    if (old == before.end()) {
      lines.push_back(line(Difference::Kind::added, path));
    } else if (now == after.end()) {
      lines.push_back(line(Difference::Kind::removed, path));
    } else if (!same(old->second, now->second)) {
      lines.push_back(line(Difference::Kind::changed, path));
    }
  }
  return lines;
}

std::vector<std::string> real_diff(const Manifest& before, const Manifest& after) {
  std::vector<std::string> lines;
  diff(before, after, [&](const Difference& difference) {
    EXPECT_EQ(difference.before.has_value(), difference.kind != Difference::Kind::added);
    EXPECT_EQ(difference.after.has_value(), difference.kind != Difference::Kind::removed);
    lines.push_back(line(difference.kind, (difference.after ? difference.after : difference.before)->path.text()));
  });
  return lines;
}

void mutate(PlainTree& tree, std::size_t count, test::Random& random) {
  for (; count > 0 && !tree.empty(); --count) {
    auto at = tree.lower_bound(fmt::format("{}/n{}", "abcn"[random() % 4], random() % 100'000));
    if (at == tree.end()) at = tree.begin();
    switch (random() % 4) {
      case 0:
        tree.erase(at);
        break;
      case 1:
        at->second = test::random_plain(random);
        break;
      case 2:
        test::grow(tree, 1, random);
        break;
      default: {  // a directory of one side is something else on the other
        const std::string path = at->first;
        const std::size_t slash = path.find('/');
        const std::string name = path.substr(0, slash);
        if (slash == std::string::npos) {
          tree.erase(at);
          tree.emplace(name + "/below", test::random_plain(random));
        } else if (random() % 50 == 0) {
          std::erase_if(tree, [&](const auto& entry) { return entry.first.starts_with(name + "/"); });
          tree.emplace(name, test::random_plain(random));
        }
      }
    }
  }
}

TEST(Diff, AgreesWithANaiveOneOnRandomPairs) {
  const std::uint64_t seed = test::test_seed();
  SCOPED_TRACE(seed);
  test::Random random(seed);
  for (int round = 0; round < 60; ++round) {
    PlainTree before;
    test::grow(before, random() % (round % 10 == 0 ? 4000 : 60), random);
    PlainTree after = before;
    mutate(after, random() % (round % 3 == 0 ? 200 : 4), random);
    const Manifest old = test::manifest_of(before), now = test::manifest_of(after);
    ASSERT_EQ(real_diff(old, now), naive_diff(before, after)) << "round " << round;
    ASSERT_EQ(real_diff(now, old), naive_diff(after, before)) << "round " << round;
    ASSERT_TRUE(real_diff(now, now).empty());
  }
}

TEST(Diff, FromNothingToAllAndBack) {
  test::Random random(9);
  PlainTree tree;
  test::grow(tree, 3000, random);
  const Manifest nothing = test::manifest_of({}), all = test::manifest_of(tree);
  EXPECT_EQ(real_diff(nothing, all), naive_diff({}, tree));
  EXPECT_EQ(real_diff(all, nothing), naive_diff(tree, {}));
}

TEST(Diff, AFileTurnsIntoADirectory) {
  const test::Plain empty{EntryType::file, digest_of_chunks(0, {}), {}, {}};
  const PlainTree file{{"a", empty}}, directory{{"a/b", empty}, {"a/c", {EntryType::directory, {}, {}, {}}}};
  EXPECT_EQ(real_diff(test::manifest_of(file), test::manifest_of(directory)),
            (std::vector<std::string>{"-a", "+a/b", "+a/c"}));
  EXPECT_EQ(real_diff(test::manifest_of(directory), test::manifest_of(file)),
            (std::vector<std::string>{"+a", "-a/b", "-a/c"}));
  const PlainTree executable{{"a", {EntryType::executable, empty.digest, {}, {}}}};
  EXPECT_EQ(real_diff(test::manifest_of(file), test::manifest_of(executable)), (std::vector<std::string>{"~a"}));
}

}  // namespace
}  // namespace sabath
