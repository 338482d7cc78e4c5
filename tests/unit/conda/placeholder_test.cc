#include "conda/placeholder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sabath/error.h"

namespace sabath {
namespace {

using namespace std::string_literals;

struct PlaceCase {
  const char* what;
  std::string before, old, by, after;  // after empty: refused
  std::size_t times = 0;
  bool whole_names = false;
  std::size_t room = 0;  // 0: as long as `old`
};

PlaceSwap swap_of(const PlaceCase& one) {
  return {one.old, one.by, one.room == 0 ? one.old.size() : one.room, one.whole_names};
}

TEST(PlaceInTexts, IsPutInWhereTheOldOneStands) {
  const std::vector<PlaceCase> cases{
      {"in the middle", "a=/old/pre/lib\n", "/old/pre", "/new", "a=/new/lib\n", 1},
      {"several", "/old/pre:/old/pre/x", "/old/pre", "/n", "/n:/n/x", 2},
      {"at the end", "p /old/pre", "/old/pre", "/longer/than/before", "p /longer/than/before", 1},
      {"none", "nothing", "/old/pre", "/n", "nothing", 0},
      {"empty", "", "/old/pre", "/n", "", 0},
      {"one in the other", "/aa/aa/aa", "/aa/aa", "/b", "/b/aa", 1},
      {"the new one holds the old one", "/old/pre/x", "/old/pre", "/old/pre/old/pre", "/old/pre/old/pre/x", 1},
      {"a longer name", "/old/prefix /old/pre-2 /old/pre/", "/old/pre", "/n", "/old/prefix /old/pre-2 /n/", 1, true},
      {"a longer name of a placeholder", "/old/prefix", "/old/pre", "/n", "/nfix", 1},
  };
  for (const PlaceCase& one : cases) {
    const SwappedText done = swap_in_text(one.before, swap_of(one));
    EXPECT_EQ(done.text, one.after) << one.what;
    EXPECT_EQ(done.times, one.times) << one.what;
  }
}

TEST(PlaceInBinaryFiles, KeepsTheLength) {
  const std::vector<PlaceCase> cases{
      {"shorter", "\x7f/old/pre/lib\0\x01z"s, "/old/pre", "/new", "\x7f/new/lib\0\0\0\0\0\x01z"s, 1},
      {"equal", "/old/pre\0z"s, "/old/pre", "/new/pre", "/new/pre\0z"s, 1},
      {"several strings", "/old/pre/a\0x\0/old/pre/b\0"s, "/old/pre", "/new", "/new/a\0\0\0\0\0x\0/new/b\0\0\0\0\0"s,
       2},
      {"several in one string", "/old/pre/a:/old/pre/b\0y"s, "/old/pre", "/n", "/n/a:/n/b\0\0\0\0\0\0\0\0\0\0\0\0\0y"s,
       2},
      {"text before it", "-L/old/pre/lib\0y"s, "/old/pre", "/new", "-L/new/lib\0\0\0\0\0y"s, 1},
      {"empty tail", "/old/pre\0"s, "/old/pre", "/n", "/n\0\0\0\0\0\0\0"s, 1},
      {"no NUL at the end", "a/old/pre/x"s, "/old/pre", "/n", "a/old/pre/x"s, 0},
      {"the last has no NUL", "/old/pre\0/old/pre"s, "/old/pre", "/n", "/n\0\0\0\0\0\0\0/old/pre"s, 1},
      {"no NUL at all", "text of a file"s, "/old/pre", "/n", "text of a file"s, 0},
      {"one in the other", "/aa/aa/aa\0z"s, "/aa/aa", "/b", "/b/aa\0\0\0\0\0z"s, 1},
      {"longer, with space", "/old/lib\0\0\0\0\0z"s, "/old", "/longer", "/longer/lib\0\0z"s, 1, true, 8},
      {"as long as the space", "/old/lib\0\0\0\0\0z"s, "/old", "/full/88", "/full/88/lib\0z"s, 1, true, 8},
      {"longer, twice in one string", "/old:/old\0\0\0\0\0z"s, "/old", "/old/2", "/old/2:/old/2\0z"s, 2, true, 6},
      {"a longer name", "/older/lib\0z"s, "/old", "/n", "/older/lib\0z"s, 0, true},
  };
  for (const PlaceCase& one : cases) {
    const SwappedText done = swap_in_binary(one.before, swap_of(one));
    EXPECT_EQ(done.text, one.after) << one.what;
    EXPECT_EQ(done.times, one.times) << one.what;
    EXPECT_EQ(done.text.size(), one.before.size()) << one.what;
  }
}

TEST(PlaceInBinaryFiles, RefusesWhatHasNoSpace) {
  const std::vector<PlaceCase> cases{
      {"longer than the space", "/old/lib\0\0\0\0\0\0\0\0z"s, "/old", "/longer", "space for a place of 6 bytes", 0,
       true, 6},
      {"no NULs behind it", "/old/lib\0z"s, "/old", "/longer", "less space", 0, true, 20},
      {"the file ends", "/old/lib\0\0"s, "/old", "/longer", "less space", 0, true, 20},
      {"its own end would go", "/old/lib\0\0\0z"s, "/old", "/longer", "less space", 0, true, 20},
  };
  for (const PlaceCase& one : cases) try {
      static_cast<void>(swap_in_binary(one.before, swap_of(one)));
      ADD_FAILURE() << one.what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(one.after)) << one.what;
    }
}

TEST(PlaceInBinaryFiles, GoesThereAndBack) {
  const std::string place(40, 'p'), file = "\x7f" + ("/" + place) + "/lib:/" + place + "\0\x02/"s + place + "/x\0end"s;
  const std::string old = "/" + place;
  const SwappedText there = swap_in_binary(file, {old, "/short", old.size(), false});
  const SwappedText back = swap_in_binary(there.text, {"/short", old, old.size(), true});
  EXPECT_EQ(there.times, 3U);
  EXPECT_EQ(back.text, file);
}

}  // namespace
}  // namespace sabath
