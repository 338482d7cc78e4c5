// An asset as a plain map, and what tests need around it: random ones, their manifests, a naive difference.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "manifest/file_tree.h"
#include "manifest/manifest.h"
#include "manifest/tree_node.h"
#include "sabath/error.h"

namespace sabath::test {

using Random = std::mt19937_64;

struct Plain {
  EntryType type = EntryType::file;  // a directory is an empty one
  Digest digest;
  std::vector<Sha256> chunks;
  std::string target;
};

struct TreeOrder {
  bool operator()(const std::string& a, const std::string& b) const { return tree_order_less(a, b); }
};
using PlainTree = std::map<std::string, Plain, TreeOrder>;

// SABATH_TEST_SEED repeats a failed run.
inline std::uint64_t test_seed() {
  const char* const given = std::getenv("SABATH_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

inline Sha256 random_hash(Random& random) { return sha256(std::to_string(random())); }

inline Plain random_file(Random& random) {
  Plain file;
  if (random() % 10 == 0) file.type = EntryType::executable;
  if (random() % 20 == 0) {  // of many chunks; now and then with a third level
    const std::uint64_t size = chunk_size_bytes + 1 + random() % ((random() % 10 == 0 ? 70 : 3) * chunk_size_bytes);
    for (std::uint64_t i = 0; i < chunk_count(size); ++i) file.chunks.push_back(random_hash(random));
    file.digest = digest_of_chunks(size, file.chunks);
  } else if (random() % 10 == 0) {
    file.digest = digest_of_chunks(0, {});
  } else {
    file.digest = {ContentKind::file, 1 + random() % chunk_size_bytes, random_hash(random)};
  }
  return file;
}

inline Plain random_plain(Random& random) {
  const auto kind = random() % 12;
  if (kind == 0) return {EntryType::directory, {}, {}, {}};
  if (kind == 1) return {EntryType::symlink, {}, {}, fmt::format("t{}", random() % 100)};
  return random_file(random);
}

// True if a name of `tree` would have to be both a directory and something else.
inline bool collides(const PlainTree& tree, const std::string& path) {
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (tree.contains(path.substr(0, slash))) return true;
  }
  const auto after = tree.lower_bound(path);
  return after != tree.end() && (after->first == path || after->first.starts_with(path + "/"));
}

inline void grow(PlainTree& tree, std::size_t count, Random& random) {
  while (count > 0) {
    std::string path;
    for (auto depth = random() % 4; depth > 0; --depth) path.append({"abc"[random() % 3], '/'});
    path += fmt::format("n{}", random() % 100'000);
    if (collides(tree, path)) continue;
    tree.emplace(path, random_plain(random));
    --count;
  }
}

inline void add_to(ManifestBuilder& builder, const std::string& path, const Plain& plain) {
  const RelativePath at = RelativePath::parse(path);
  if (plain.type == EntryType::directory) return builder.add_directory(at);
  if (plain.type == EntryType::symlink) return builder.add_symlink(at, plain.target);
  builder.add_file(at, plain.digest, plain.chunks, plain.type == EntryType::executable);
}

inline std::string bytes_of(const PlainTree& tree) {
  ManifestBuilder builder;
  for (const auto& [path, plain] : tree) add_to(builder, path, plain);
  return builder.bytes();
}

inline Manifest manifest_of(const PlainTree& tree) { return Manifest::parse(bytes_of(tree)); }

inline bool same(const Plain& a, const Plain& b) {
  return a.type == b.type && a.target == b.target && (a.type == EntryType::directory || a.digest == b.digest);
}

inline bool operator==(const Plain& a, const Plain& b) { return same(a, b); }

// The failure kind that `act` throws, for EXPECT_EQ; a failure of the test if it throws nothing.
template <typename Act>
FailureKind kind_thrown(Act&& act, std::string* message = nullptr) {
  try {
    act();
  } catch (const Error& error) {
    if (message) *message = error.failure().message;
    return error.failure().kind;
  }
  ADD_FAILURE() << "nothing was thrown";
  return FailureKind::internal;
}

}  // namespace sabath::test
