#include "settings/default_store.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string doubt_about_home(const fs::path& home) {
  const auto status = try_stat(home);
  if (home.is_absolute() && status && S_ISDIR(status->st_mode)) return {};
  return fmt::format("HOME is {}, which is no directory{}: set HOME, or name the store by {} DIR or SABATH_STORE",
                     printable(home.native()), home.is_absolute() ? "" : " from /", option_text("store"));
}

}  // namespace

DefaultStore default_store(const Environment& environment) {
  if (const auto scratch = environment.get("SCRATCH"); scratch && fs::path(*scratch).is_absolute()) {
    return {.directory = fs::path(*scratch) / ".sabath", .origin = "default: SCRATCH"};
  }
  const fs::path cache = environment.base_directory("XDG_CACHE_HOME", ".cache");
  if (cache.empty()) {
    throw Error(FailureKind::usage, "cannot tell where the store is: neither HOME nor SCRATCH is set",
                fmt::format("say {} DIR or set SABATH_STORE", option_text("store")));
  }
  DefaultStore store{.directory = cache / "sabath", .origin = "default"};
  store.in_home = is_below(store.directory, environment.home);
  if (!environment.get("XDG_CACHE_HOME")) store.doubt = doubt_about_home(environment.home);
  return store;
}

std::optional<std::pair<std::string, std::string>> store_variable(const Environment& environment) {
  const auto store = environment.get("SABATH_STORE"), cache = environment.get("SABATH_CACHE");
  if (store && cache && *store != *cache) {
    throw Error(FailureKind::usage,
                fmt::format("SABATH_STORE is {}, SABATH_CACHE is {}, and both name the store", printable(*store, 1000),
                            printable(*cache, 1000)),
                "unset one of them");
  }
  if (store) return std::pair(*store, std::string("SABATH_STORE"));
  if (cache) return std::pair(*cache, std::string("SABATH_CACHE"));
  return std::nullopt;
}

}  // namespace sabath
