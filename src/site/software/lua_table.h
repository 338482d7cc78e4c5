// Assignments of tables of constants, as Lmod's cache files have them: `spiderT = { ["a"] = {...}, b = "c", }`. Read,
// never run. Pure; any thread. Throws Error{invalid} for any other Lua, and beyond the bounds.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct LuaMember;

struct LuaValue {
  std::string text;                // of a constant, without its quotes
  std::vector<LuaMember> members;  // of a table, in their order; of a list the keys are empty
  [[nodiscard]] const LuaValue* find(std::string_view key) const;
};

struct LuaMember {
  std::string first;  // the key
  LuaValue second;
};

struct LuaBounds {
  std::size_t bytes = 64U << 20U, values = 2'000'000;
  unsigned depth = 24;
};

[[nodiscard]] std::map<std::string, LuaValue> parse_lua_tables(std::string_view text, std::string_view origin,
                                                               const LuaBounds& bounds = {});

}  // namespace sabath
