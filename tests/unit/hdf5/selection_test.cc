#include "hdf5/selection.h"

#include <gtest/gtest.h>

#include "sabath/error.h"
#include "sabath/verbs/fetch.h"

namespace sabath {
namespace {

struct Good {
  const char* text;
  const char* same;  // as format_selection writes it
};

TEST(Selection, IsReadAndWritten) {
  for (const Good& good : {
           Good{"physPar", "physPar"},
           {"/physPar", "physPar"},
           {"//group//dset/", "group/dset"},
           {"/", "/"},
           {"full[:,:,:,0]", "full[:,:,:,0]"},
           {"full[ : , : ,:, 0 ] ", "full[:,:,:,0]"},
           {"g/d[1:20:3,...]", "g/d[1:20:3,...]"},
           {"d[...]", "d[...]"},
           {"d[-1,:-2,-3:]", "d[-1,:-2,-3:]"},
           {"d[::1]", "d[:]"},
           {"d[5::]", "d[5:]"},
           {"odd\\[name\\]\\\\[3]", "odd\\[name\\]\\\\[3]"},
           {"a b=c[0]", "a b=c[0]"},
       }) {
    const Hyperslab read = parse_selection(good.text);
    EXPECT_EQ(format_selection(read), good.same);
    EXPECT_EQ(parse_selection(good.same), read);
  }
  EXPECT_TRUE(parse_selection("a").whole);
  EXPECT_FALSE(parse_selection("a[...]").whole);
  EXPECT_EQ(parse_selection("odd\\[name\\]").path, "/odd[name]");
}

TEST(Selection, IsRefusedWithItsPlace) {
  struct Bad {
    std::string text, words;
  };
  for (const Bad& bad : std::vector<Bad>{
           {"", "at character 1"},
           {"[0]", "the path"},
           {"a[", "a number, ':' or '...'"},
           {"a[]", "a number, ':' or '...'"},
           {"a[0", "']' is expected"},
           {"a[0]b", "nothing may follow"},
           {"a[0,]", "a number"},
           {"a[1:2:3:4]", "']' is expected"},
           {"a[0:5:0]", "a step is at least 1"},
           {"a[::-1]", "a step is at least 1"},
           {"a[..., ...]", "once only"},
           {"a[99999999999999999999]", "too large"},
           {"a[1.5]", "']' is expected"},
           {"a]b", "']' without '['"},
           {"a\\b", "a backslash is allowed"},
           {"../a", "mean nothing"},
           {"a/./b", "mean nothing"},
           {std::string("a\0b", 3), "no NUL"},
           {std::string(5000, 'a'), "longer than"},
           {"a[0" + std::string(100, ',') + "]", "a number"},
       }) {
    try {
      (void)parse_selection(bad.text);
      ADD_FAILURE() << bad.text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.failure().kind, FailureKind::usage);
      EXPECT_NE(error.failure().message.find(bad.words), std::string::npos) << error.failure().message;
    }
  }
  std::string many = "a[0";
  for (int i = 0; i < 32; ++i) many += ",0";
  EXPECT_THROW((void)parse_selection(many + "]"), Error);
}

TEST(Selection, MeansWhatItMeansToPython) {
  const std::vector<std::uint64_t> extents{10, 20, 4};
  using Ranges = std::vector<AxisRange>;
  const auto of = [&](const char* text) { return resolve_hyperslab(parse_selection(text), extents); };
  EXPECT_EQ(of("a"), (Ranges{{0, 10, 1}, {0, 20, 1}, {0, 4, 1}}));
  EXPECT_EQ(of("a[3]"), (Ranges{{3, 1, 1, true}, {0, 20, 1}, {0, 4, 1}}));
  EXPECT_EQ(of("a[...,-1]"), (Ranges{{0, 10, 1}, {0, 20, 1}, {3, 1, 1, true}}));
  EXPECT_EQ(of("a[1,...,2:3]"), (Ranges{{1, 1, 1, true}, {0, 20, 1}, {2, 1, 1}}));
  EXPECT_EQ(of("a[1:9:3]")[0], (AxisRange{1, 3, 3}));
  EXPECT_EQ(of("a[1:8:3]")[0], (AxisRange{1, 3, 3}));
  EXPECT_EQ(of("a[1:7:3]")[0], (AxisRange{1, 2, 3}));
  EXPECT_EQ(of("a[-3:]")[0], (AxisRange{7, 3, 1}));
  EXPECT_EQ(of("a[:-3]")[0], (AxisRange{0, 7, 1}));
  EXPECT_EQ(of("a[-99:99]")[0], (AxisRange{0, 10, 1}));
  EXPECT_EQ(of("a[7:3]")[0], (AxisRange{7, 0, 1}));
  EXPECT_EQ(of("a[99:]")[0], (AxisRange{10, 0, 1}));
  EXPECT_EQ(of("a[0:10:9223372036854775807]")[0], (AxisRange{0, 1, INT64_MAX}));
  for (const char* bad : {"a[10]", "a[-11]", "a[0,0,0,0]", "a[0,0,0,0,...]"}) {
    EXPECT_THROW((void)of(bad), Error) << bad;
  }
  EXPECT_EQ(resolve_hyperslab(parse_selection("a[...]"), {}), Ranges{});
}

TEST(Selection, BlockShapes) {
  EXPECT_EQ(parse_block_shape("128, 128,128,4"), (std::vector<std::uint64_t>{128, 128, 128, 4}));
  for (const char* bad : {"", "0", "1,", "1;2", "-1", "1,2x"}) EXPECT_THROW((void)parse_block_shape(bad), Error) << bad;
}

}  // namespace
}  // namespace sabath
