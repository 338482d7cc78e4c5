#include "hosts/sent_recipes.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "base/hash.h"
#include "base/ownership.h"
#include "base/text.h"
#include "jobs/job_directory.h"
#include "recipe/parse.h"
#include "recipe/subscribed.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view sent_label = "sent";
constexpr std::size_t digits_of_digest = 24;
// From nowhere near: its URLs lead to public hosts only.
constexpr std::string_view subscription_text = "{\"schema\": 1, \"url\": null, \"reach\": \"global\"}\n";

AssetKind kind_of(const SentRecipe& recipe) {
  constexpr std::array<std::string_view, 4> roles{"", "model", "dataset", "from"};
  const auto kind = try_parse_kind(recipe.kind);
  if (kind && is_name(recipe.name) && is_among(recipe.role, roles) && recipe.text.size() <= recipe_size_max)
    return *kind;
  throw Error(FailureKind::invalid, fmt::format("the call brings '{}', which is no recipe", printable(recipe.name)));
}

void make_private(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0) return;
  if (errno == ENOENT && directory.has_relative_path()) {
    make_private(directory.parent_path());
    return make_private(directory);
  }
  if (errno != EEXIST) throw_errno("make the directory", directory, errno);
}

// Only root and this user may write there: another one's recipe would be taken for the caller's.
void make_home(const fs::path& home) {
  make_private(home);
  refuse_job_of_others(home);
}

void write_once(const fs::path& file, std::string_view text) {
  if (const auto there = try_read_text(file, text.size() + 1); there && *there == text) return;
  write_text_atomically(file, text, 0600, true);
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
  const fs::path catalogue = placed.directory / "catalogues" / sent_label;
  make_private(catalogue);
  write_once(catalogue / subscription_file, subscription_text);
  for (const SentRecipe& sent : recipes) {
    const fs::path folder = catalogue / kind_folder(kind_of(sent));
    make_private(folder);
    placed.files.push_back(folder / (sent.name + ".json"));
    write_once(placed.files.back(), sent.text);
  }
  return placed;
}

fs::path place_sent_lock(const fs::path& home, const std::string& lock) {
  make_home(home);
  const fs::path directory = home / "locks";
  make_private(directory);
  fs::path file = directory / (to_hex(sha256(lock).bytes()).substr(0, digits_of_digest) + ".json");
  write_once(file, lock);
  return file;
}

}  // namespace sabath
