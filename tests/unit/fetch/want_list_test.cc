// Want-lists: one spelling each, and what a store says that it lacks or has.
#include "fetch/archives/want_list.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "sabath/error.h"
#include "support/seeded.h"
#include "support/temp_dir.h"

namespace sabath::test {
namespace {

WantList some() {
  WantList list{WantList::Kind::missing, {{"a", {}}, {"b c", sha256("root")}}, {}};
  for (const char* text : {"x", "y", "z"}) list.pieces.push_back(chunk_key(sha256(text), 5));
  std::ranges::sort(list.pieces);
  return list;
}

void expect_refused(const std::string& bytes) {
  try {
    (void)parse_want_list(bytes, "list");
    ADD_FAILURE() << bytes.substr(0, 100);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::invalid);
  }
}

TEST(WantList, GoesAndComesBack) {
  for (const auto kind : {WantList::Kind::missing, WantList::Kind::have}) {
    WantList list = some();
    list.kind = kind;
    const WantList again = parse_want_list(encode_want_list(list), "list");
    EXPECT_EQ(again.kind, kind);
    EXPECT_EQ(again.assets, list.assets);
    EXPECT_EQ(again.pieces, list.pieces);
    for (const auto& piece : list.pieces) EXPECT_EQ(again.wants(piece), kind == WantList::Kind::missing);
    EXPECT_EQ(again.wants(file_key({ContentKind::file, 5, sha256("x")})),
              kind == WantList::Kind::have);  // a file is no chunk
  }
}

TEST(WantList, EveryCutAndEveryOtherSpellingIsRefused) {
  const std::string good = encode_want_list(some());
  for (std::size_t length = 0; length < good.size(); ++length) expect_refused(good.substr(0, length));
  expect_refused(good + "x");
  WantList list = some();
  std::swap(list.pieces[0], list.pieces[1]);
  expect_refused(encode_want_list(list));
  list.pieces[1] = list.pieces[0];
  expect_refused(encode_want_list(list));
  for (const char* text :
       {"sabath-want 1 all 0\n\n", "sabath-want 1 have 18446744073709551616\n\n",
        "sabath-want 1 have 1152921504606846976\n\n", "sabath-want 1 have -1\n\n", "sabath-want 1 have 0\n",
        "sabath-want 1 have 0\nx y\n\n", "sabath-want 1 have 0\n- \x1b\n\n", "sabath-want 1 have 0\n- \n\n"}) {
    expect_refused(text);
  }
  list = some();
  list.assets.resize(bundle_assets_max + 1, {"a", {}});
  expect_refused(encode_want_list(list));
}

TEST(WantList, OfAStore) {
  TempDir temp;
  const auto store = Store::open(temp / "store", true);
  const std::string bytes = seeded_bytes(1, 0, 2 * chunk_size_bytes + 1);
  const auto put = [&](std::string_view content) {
    auto writer = store->write_object();
    writer->write(std::as_bytes(std::span(content)));
    FileTree tree = writer->finish();
    std::vector<std::unique_ptr<ObjectWriter>> finished;
    finished.push_back(std::move(writer));
    store->publish(std::move(finished));
    return tree;
  };
  const FileTree here = put(bytes);
  FileHasher hasher;
  std::string other = bytes;
  other[0] ^= 1;
  hasher.update(std::as_bytes(std::span(other)));
  const FileTree lacking = hasher.finish();
  ManifestBuilder builder;
  builder.add_file(*RelativePath::try_parse("old"), here.digest, here.chunks);
  builder.add_file(*RelativePath::try_parse("new"), lacking.digest, lacking.chunks);
  builder.add_file(*RelativePath::try_parse("none"), {ContentKind::file, 9, sha256("none")}, {});
  const Sha256 root = store->put_manifest(builder);

  WantList list = make_want_list(*store, {{"a", root}});
  EXPECT_EQ(list.kind, WantList::Kind::missing);
  std::vector<PieceKey> expected{chunk_key(lacking.chunks[0], chunk_size_bytes),
                                 file_key({ContentKind::file, 9, sha256("none")})};
  std::ranges::sort(expected);
  EXPECT_EQ(list.pieces, expected);  // the other chunks stand in `old`

  list = make_want_list(*store, {{"a", root}, {"unknown", sha256("?")}});
  EXPECT_EQ(list.kind, WantList::Kind::have);
  expected = {chunk_key(here.chunks[0], chunk_size_bytes), chunk_key(here.chunks[1], chunk_size_bytes),
              chunk_key(here.chunks[2], 1)};
  std::ranges::sort(expected);
  EXPECT_EQ(list.pieces, expected);
}

}  // namespace
}  // namespace sabath::test
