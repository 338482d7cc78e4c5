// What Lmod knows of its modules, as its own program prints it (`spider -o spider-json`), and as its cache file has it
// (spiderT.lua). Pure; any thread. Throws Error{invalid} for texts of another form, and for those beyond the bounds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sabath/verbs/site.h"

namespace sabath {

inline constexpr std::size_t spider_bytes_max = 64U << 20U;

struct SpiderModule {
  Software software;
  std::string file;
};

// Lines in front of the answer are passed over: a modulefile may print.
[[nodiscard]] std::vector<SpiderModule> parse_spider_json(std::string_view answer);

// Of the modules that `module_path` leads to.
[[nodiscard]] std::vector<SpiderModule> parse_spider_cache(std::string_view lua,
                                                           const std::vector<std::string>& module_path);

// Modules as Lmod knows them, with what only the files say of each: needs, conflicts, features.
[[nodiscard]] std::vector<Software> joined(std::vector<SpiderModule> asked, const std::vector<Software>& files,
                                           std::string_view known);

}  // namespace sabath
