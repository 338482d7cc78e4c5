#include "hdf5/messages.h"

#include <gtest/gtest.h>

#include <tuple>

#include "sabath/error.h"

namespace sabath {
namespace {

TEST(Hdf5Messages, ARequestComesAsItWasSent) {
  Hdf5Request request;
  request.what = Hdf5Request::What::select;
  request.file = "a \xff.h5";
  request.out = "out";
  request.selections = {parse_selection("full[:,0]"), parse_selection("/")};
  request.options.filter = SelectOptions::Filter::keep;
  request.options.blocks = {4, 5};
  request.options.blocks_as_groups = true;
  request.options.part = 1;
  request.options.parts = 3;
  request.options.rest = true;
  request.options.sync = false;
  request.options.unfinished = "out.new";
  request.options.buffer_bytes = 77;
  request.options.source_digest = Digest{ContentKind::file, 12, Sha256()};
  const std::string bytes = request.encode();
  const Hdf5Request read = Hdf5Request::parse(bytes);
  EXPECT_EQ(read.encode(), bytes);
  EXPECT_EQ(read.file, request.file);
  EXPECT_EQ(read.selections, request.selections);
  EXPECT_EQ(read.options.blocks, request.options.blocks);
  EXPECT_EQ(read.options.source_digest, request.options.source_digest);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(static_cast<void>(Hdf5Request::parse(std::string_view(bytes).substr(0, length))), Error) << length;
  }
}

TEST(Hdf5Messages, WhatIsUnknownIsRefused) {
  std::string bytes = Hdf5Request().encode();
  bytes.front() = 4;
  EXPECT_THROW(static_cast<void>(Hdf5Request::parse(bytes)), Error);
}

TEST(Hdf5Messages, AnswersComeAsTheyWereSent) {
  LogicalHash hash;
  hash.bytes = 5;
  hash.objects = {{"/", 'g', Sha256(), 0}, {"/x\xff", 'd', Sha256(), 5}};
  const LogicalHash hashed = parse_hash(encode_hash(hash));
  ASSERT_EQ(hashed.objects.size(), 2u);
  EXPECT_EQ(hashed.objects[1].path, "/x\xff");
  EXPECT_EQ(hashed.objects[1].kind, 'd');
  EXPECT_EQ(hashed.objects[1].bytes, 5u);
  const SelectedFile made = parse_selected(encode_selected({{"a", "b"}, {"/y: why"}, 1, 2, 3, 0.125}));
  EXPECT_EQ(made.files, (std::vector<std::filesystem::path>{"a", "b"}));
  EXPECT_EQ(made.left_out, std::vector<std::string>{"/y: why"});
  EXPECT_EQ(std::tuple(made.bytes_read, made.bytes_selected, made.bytes_written, made.seconds),
            std::tuple(1u, 2u, 3u, 0.125));
}

}  // namespace
}  // namespace sabath
