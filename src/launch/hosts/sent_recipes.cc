#include "hosts/sent_recipes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/ownership.h"
#include "base/text.h"
#include "jobs/job_directory.h"
#include "recipe/parse.h"
#include "recipe/subscribed.h"
#include "record/run_record.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view sent_label = "sent";
constexpr std::size_t digits_of_digest = 24;
// From nowhere near: its URLs lead to public hosts only.
constexpr std::string_view subscription_text = "{\"schema\": 1, \"url\": null, \"reach\": \"global\"}\n";

constexpr std::size_t sets_max = 1000;
constexpr std::uint64_t sets_bytes_max = 256 << 20;
constexpr std::int64_t recipes_kept_for = 180 * 86400, lock_kept_for = 86400;  // seconds

bool is_name_of_set(std::string_view name) {
  return name.size() == digits_of_digest && name.find_first_not_of("0123456789abcdef") == name.npos;
}

AssetKind kind_of(const SentRecipe& recipe) {
  constexpr std::array<std::string_view, 4> roles{"", "model", "dataset", "from"};
  const auto kind = try_parse_kind(recipe.kind);
  if (kind && is_name(recipe.name) && is_among(recipe.role, roles) && recipe.text.size() <= recipe_size_max)
    return *kind;
  throw Error(FailureKind::invalid, fmt::format("the call brings '{}', which is no recipe", printable(recipe.name)));
}

// Only root and this user may write there: another one's recipe would be taken for the caller's.
void make_home(const fs::path& home) {
  make_directories(home, 0700);
  refuse_job_of_others(home);
}

void write_once(const fs::path& file, std::string_view text) {
  if (const auto there = try_read_text(file, text.size() + 1); there && *there == text) return;
  write_text_atomically(file, text, 0600, true);
}

// What it holds counts as what others wrote (base/kept_for_others.h), be it a recipe or not.
fs::path make_catalogue_in(const fs::path& directory) {
  fs::path catalogue = directory / "catalogues" / sent_label;
  make_directories(catalogue, 0700);
  write_once(catalogue / subscription_file, subscription_text);
  return catalogue;
}

template <typename Take>
void for_each_in(const fs::path& directory, const Take& take) {
  std::error_code none;
  for (fs::directory_iterator entry(directory, none), end; !none && entry != end; entry.increment(none))
    take(entry->path());
}

// Names that are made here, and that no call used for so long.
void remove_old_in(const fs::path& directory, std::int64_t seconds) {
  for_each_in(directory, [&](const fs::path& place) {
    const auto status = try_lstat(place);
    const std::string name = place.filename().native();
    const bool ours = is_name_of_set(name) || name.starts_with("lock.");
    if (ours && status &&
        static_cast<std::int64_t>(status->st_mtime) < static_cast<std::int64_t>(unix_seconds()) - seconds)
      remove_tree(place);
  });
}

void refuse_too_many(const fs::path& home) {
  std::size_t sets = 0;
  std::uint64_t bytes = 0;
  for_each_in(home, [&](const fs::path& place) {
    if (!is_name_of_set(place.filename().native())) return;
    ++sets;
    std::error_code none;
    for (fs::recursive_directory_iterator entry(place, none), end; !none && entry != end; entry.increment(none)) {
      if (const auto status = try_lstat(entry->path())) bytes += static_cast<std::uint64_t>(status->st_size);
    }
  });
  if (sets < sets_max && bytes < sets_bytes_max) return;
  throw Error(FailureKind::space,
              fmt::format("{} has recipes of {} calls, {}", printable(home.native(), 1000), sets, format_bytes(bytes)),
              "remove the directories there that no job in the queue reads");
}

}  // namespace

void check_sent(const std::vector<SentRecipe>& recipes) {
  for (const SentRecipe& sent : recipes) {
    const AssetKind kind = kind_of(sent);
    if (sha256(sent.text).prefixed() != sent.digest)
      throw Error(FailureKind::invalid, fmt::format("the recipe of {} did not come as it was sent", sent.name));
    const Recipe recipe = parse_recipe(sent.text, sent.name + ".json", kind);
    if (recipe.kind != kind || recipe.name != sent.name)
      throw Error(FailureKind::invalid,
                  fmt::format("the recipe of {} is one of {}", sent.name, printable(recipe.name)));
  }
}

bool has_all(const Catalogue& catalogue, const std::vector<SentRecipe>& recipes) {
  return std::ranges::all_of(recipes, [&](const SentRecipe& sent) {
    try {
      const auto found = catalogue.try_find(sent.name, try_parse_kind(sent.kind));
      if (!found || catalogue.is_held(*found)) return false;
      const auto text = try_read_text(found->origin, recipe_size_max);
      return text && sha256(*text).prefixed() == sent.digest;
    } catch (const Error&) {  // what cannot be read here is not the same
      return false;
    }
  });
}

PlacedRecipes place_sent(const fs::path& home, const std::vector<SentRecipe>& recipes) {
  PlacedRecipes placed;
  std::string all;
  for (const SentRecipe& sent : recipes) all += fmt::format("{} {} {}\n", sent.kind, sent.name, sent.digest);
  make_home(home);
  placed.directory = home / to_hex(sha256(all).bytes()).substr(0, digits_of_digest);
  if (try_lstat(placed.directory)) ::utimensat(AT_FDCWD, placed.directory.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  remove_old_in(home, recipes_kept_for);
  if (!try_lstat(placed.directory)) refuse_too_many(home);
  const fs::path catalogue = make_catalogue_in(placed.directory);
  for (const SentRecipe& sent : recipes) {
    const fs::path folder = catalogue / kind_folder(kind_of(sent));
    make_directories(folder, 0700);
    placed.files.push_back(folder / (sent.name + ".json"));
    write_once(placed.files.back(), sent.text);
  }
  return placed;
}

PlacedLock::PlacedLock(const fs::path& home, const std::string& lock) {
  static_cast<void>(parse_run_record(lock, "the lock of the call"));
  make_home(home);
  const fs::path catalogue = make_catalogue_in(home);
  const fs::path directory = catalogue / "locks";
  make_directories(directory, 0700);
  remove_old_in(directory, lock_kept_for);
  file_ = unfinished_name(directory / "lock", "json");
  write_text_atomically(file_, lock, 0600, true);
}

PlacedLock::~PlacedLock() { ::unlink(file_.c_str()); }

}  // namespace sabath
