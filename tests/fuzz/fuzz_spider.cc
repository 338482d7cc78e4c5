// What Lmod says: its answer in JSON, and its cache, which is Lua that is read and not run. Rows have names that a
// profile can hold, and chains that end.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "expected.h"
#include "software/lua_table.h"
#include "software/module_words.h"
#include "software/spider.h"

namespace {

void check_modules(const std::vector<sabath::SpiderModule>& modules) {
  for (const sabath::SpiderModule& one : modules) {
    check(sabath::is_plain_value(one.software.module) && one.software.chain.size() < 64);
    for (const auto& before : one.software.chain) check(sabath::is_plain_value(before));
    for (const auto& feature : one.software.features) check(sabath::is_plain_value(feature));
  }
}

std::size_t values_of(const sabath::LuaValue& value) {
  std::size_t count = 1;
  for (const auto& member : value.members) count += values_of(member.second);
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_damage_or([&] { check_modules(sabath::parse_spider_json(text)); });
  expect_damage_or([&] { check_modules(sabath::parse_spider_cache(text, {"/sw/Core", "/a"})); });
  expect_damage_or([&] {
    std::size_t count = 0;
    for (const auto& [name, table] : sabath::parse_lua_tables(text, "a text", {.values = 1000, .depth = 8}))
      count += values_of(table);
    check(count <= 1000);
  });
  return 0;
}
