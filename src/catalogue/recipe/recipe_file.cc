#include "recipe/recipe_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/file.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "recipe/catalogue.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

[[noreturn]] void refuse_data(const std::filesystem::path& file, const char* what) {
  throw Error(FailureKind::usage, fmt::format("{} is {}, and no recipe", printable(file.native(), 1000), what),
              hint_for_data(file));
}

// Every recipe, and every document that is read as one, is JSON.
bool may_be_recipe(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = trim(text);
  return text.empty() || text.front() == '{' || text.front() == '[';
}

}  // namespace

std::string hint_for_data(const std::filesystem::path& data) {
  std::filesystem::path place = absolute_path(data).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // "DIR/"
  const auto status = try_stat(place);
  if (status && S_ISDIR(status->st_mode)) {
    return fmt::format("`{} {} {} NAME` takes a directory into the store, without a copy", verb_text("adopt"),
                       shell_word(place.native()), option_text("name"));
  }
  return fmt::format("`{} {}` takes a file into the store", verb_text("fetch"),
                     shell_word("file://" + percent_encode_path(place.native())));
}

std::string read_recipe_file(const std::filesystem::path& file) {
  const std::string shown = printable(file.native(), 1000);
  const auto status = try_stat(file);
  if (!status) throw Error(FailureKind::not_found, fmt::format("there is no recipe file {}", shown));
  if (S_ISDIR(status->st_mode)) refuse_data(file, "a directory");
  if (!S_ISREG(status->st_mode)) {  // a pipe or a device would never end
    throw Error(FailureKind::invalid, fmt::format("{} is no regular file", shown));
  }
  const bool said = file.extension() == ".json";
  if (!said && static_cast<std::uint64_t>(status->st_size) > recipe_size_max) refuse_data(file, "a file of data");
  std::optional<std::string> text = try_read_text(file, recipe_size_max);
  if (!text) throw Error(FailureKind::not_found, fmt::format("there is no recipe file {}", shown));
  if (text->empty()) {
    throw EmptyRecipe(FailureKind::invalid, fmt::format("{} is empty", shown),
                      "write the recipe into it, or remove it");
  }
  if (!said && !may_be_recipe(*text)) refuse_data(file, "a file of data");
  return std::move(*text);
}

// The owner of the open file decides: no user can give a file to another.
std::string read_registered(const std::filesystem::path& path, const std::vector<std::uint32_t>& owners) {
  const auto named = try_lstat(path);  // a symlink is no file of its owner's
  const auto file =
      named && S_ISREG(named->st_mode) ? try_open_file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) : std::nullopt;
  struct stat opened {};
  if (!file || ::fstat(file->get(), &opened) != 0 || !S_ISREG(opened.st_mode) ||
      std::ranges::find(owners, opened.st_uid) == owners.end()) {
    throw Error(FailureKind::invalid, fmt::format("{} is no trusted user's file", printable(path.native(), 1000)),
                "its directory is for registered names: remove it");
  }
  const auto size = static_cast<std::uint64_t>(opened.st_size);
  if (size > recipe_size_max) {
    throw Error(FailureKind::invalid,
                fmt::format("{} is longer than {} bytes", printable(path.native(), 1000), recipe_size_max));
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  text.resize(read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path));
  return text;
}

}  // namespace sabath
