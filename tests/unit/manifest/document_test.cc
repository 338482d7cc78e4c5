// The test vectors of docs/manifest.md, computed anew by this library and by reference.py.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "plain_tree.h"

namespace sabath {
namespace {

std::string block(const std::string& name) {
  std::ifstream document(SABATH_SOURCE_DIR "/docs/manifest.md");
  std::string text, line;
  bool inside = false;
  while (std::getline(document, line)) {
    if (line == "```") inside = false;
    if (inside) text += line + "\n";
    if (line == "```" + name) inside = true;
  }
  return text;
}

Digest patterned_file(std::uint64_t size) {
  std::vector<std::byte> period(251 * 4096);
  for (std::size_t i = 0; i < period.size(); ++i) period[i] = static_cast<std::byte>(i % 251);
  FileHasher hasher;
  while (hasher.size_bytes() < size) {
    hasher.update(std::span(period).first(std::min<std::uint64_t>(period.size(), size - hasher.size_bytes())));
  }
  return hasher.finish().digest;
}

FileTree patterned_tree(std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
  FileHasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

std::string small_tree(const std::string& note = "") {
  ManifestBuilder builder;
  const auto add = [&](const char* path, std::uint64_t size, bool executable) {
    const FileTree tree = patterned_tree(size);
    builder.add_file(RelativePath::parse(path), tree.digest, tree.chunks, executable);
  };
  add("big", chunk_size_bytes + 1, false);
  add("data/one", 1, false);
  add("data/run", leaf_size_bytes + 1, true);
  builder.add_symlink(RelativePath::parse("data/link"), "one");
  builder.add_directory(RelativePath::parse("empty"));
  builder.add_checksums(RelativePath::parse("data/one"), {"93b885adfe0da089cdf634904fd59f71", "", ""});
  if (!note.empty()) builder.set_note(note);
  return builder.bytes();
}

std::string paged_tree() {
  ManifestBuilder builder;
  for (int i = 0; i < 100'000; ++i)
    builder.add_file(RelativePath::parse(fmt::format("d/{}", i)), digest_of_chunks(0, {}), {});
  return builder.bytes();
}

std::string vectors_computed(const std::string& lines) {
  std::istringstream in(lines);
  std::string what, out;
  std::uint64_t size = 0;
  std::string rest;
  while (in >> what) {
    if (what == "file") {
      in >> size >> rest;
      out += "file " + std::to_string(size) + " " + patterned_file(size).hash.hex() + "\n";
      continue;
    }
    in >> rest;
    const std::string bytes = what.starts_with("paged")   ? paged_tree()
                              : what.starts_with("noted") ? small_tree(R"({"b":[],"é":"\u0001/\n"})")
                                                          : small_tree();
    out += what + " " + (what.ends_with("root") ? Manifest::parse(bytes).root() : sha256(bytes)).hex() + "\n";
  }
  return out;
}

TEST(Document, ItsVectorsAreWhatTheLibraryComputes) {
  const std::string vectors = block("vectors");
  EXPECT_EQ(std::count(vectors.begin(), vectors.end(), '\n'), 13);
  EXPECT_EQ(vectors_computed(vectors), vectors);
}

TEST(Document, AnIndependentProgramComputesTheSame) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> python(
      ::popen("/usr/bin/python3 " SABATH_SOURCE_DIR "/tests/unit/manifest/reference.py 2>/dev/null", "r"), ::pclose);
  std::string printed;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), python.get()))
    printed.append(part.data(), size);
  if (printed.empty()) GTEST_SKIP() << "/usr/bin/python3 is not there";
  EXPECT_EQ(printed, block("vectors"));
}

}  // namespace
}  // namespace sabath
