#include "assembly/packed_part.h"

#include <gtest/gtest.h>

#include <span>

namespace sabath {
namespace {

PackedPart part_of_flute() {
  PackedPart part;
  part.label = "flute 1.2";
  part.package = {"Flute", "1.2"};
  const std::string text = "x = 1\n";
  part.files.push_back({"lib/flute.py", hash_content(std::as_bytes(std::span(text))), false});
  part.files.push_back({"bin/flute", hash_content({}), true});
  FileHasher hasher;
  const std::vector<std::byte> block(1 << 20, std::byte{7});
  for (int i = 0; i < 9; ++i) hasher.update(block);
  part.files.push_back({"lib/large.so", hasher.finish(), false});
  ElfView view;
  view.machine = 62;
  view.wide = true;
  view.soname = "libflute.so";
  view.needed = {"libc.so.6"};
  view.search = {"$ORIGIN/../libs"};
  part.libraries.emplace("lib/large.so", view);
  part.accepted = {"hook.pth"};
  part.remarks = {"a remark"};
  part.compiled = 3;
  part.scripts_changed = 1;
  return part;
}

TEST(PackedPart, ComesBackAsItWas) {
  const PackedPart part = part_of_flute();
  const auto read = try_packed_part(packed_part_text(part));
  ASSERT_TRUE(read);
  EXPECT_EQ(packed_part_text(*read), packed_part_text(part));
  EXPECT_EQ(read->package.name, "Flute");
  EXPECT_EQ(read->files[2].tree.digest, part.files[2].tree.digest);
  EXPECT_EQ(read->files[2].tree.chunks, part.files[2].tree.chunks);
  EXPECT_EQ(read->files[0].tree.chunks, part.files[0].tree.chunks);
  EXPECT_TRUE(read->files[1].executable);
  EXPECT_EQ(read->libraries.at("lib/large.so").search, part.libraries.at("lib/large.so").search);
}

TEST(PackedPart, ThatIsDamagedCountsForNothing) {
  const std::string text = packed_part_text(part_of_flute());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7)
    EXPECT_FALSE(try_packed_part(text.substr(0, length))) << length;
  const auto with = [&](const std::string& word, const std::string& other) {
    std::string changed = text;
    const std::size_t at = changed.find(word);
    EXPECT_NE(at, std::string::npos) << word;
    return changed.replace(at, word.size(), other);
  };
  EXPECT_FALSE(try_packed_part(with("lib/flute.py", "../flute.py")));
  EXPECT_FALSE(try_packed_part(with("\"schema\":1", "\"schema\":2")));
  EXPECT_FALSE(try_packed_part(with("[\"lib/flute.py\",\"", "[\"lib/flute.py\",\"zz")));
  const std::string chunk = part_of_flute().files[2].tree.chunks[1].hex();
  EXPECT_FALSE(try_packed_part(with(chunk, std::string(64, '0'))));
  EXPECT_FALSE(try_packed_part("[]"));
}

}  // namespace
}  // namespace sabath
