#include "apply/in_place.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/views/write_tree.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

fs::path place_of(const fs::path& tree) {
  fs::path place = absolute_path(tree);
  if (!place.has_filename()) place = place.parent_path();
  return place;
}

Sha256 root_of_tree(const fs::path& tree, unsigned threads) {
  ManifestBuilder builder;
  add_directory_tree(builder, tree, threads, {});
  return Manifest::parse(builder.bytes()).root();
}

bool is_in(const fs::path& inner, const fs::path& outer) {
  const auto below = inner.lexically_relative(outer);
  return !below.empty() && *below.begin() != "..";
}

// In one step where the filesystem can; else there is a moment without a tree of this name.
void swap_trees(const fs::path& one, const fs::path& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != EXDEV) throw_errno("exchange", one, errno);
  const fs::path aside = other.native() + ".before";
  rename_path(other, aside);
  rename_path(one, other);
  rename_path(aside, one);
}

}  // namespace

void check_tree_in_place(const Store& store, const fs::path& tree, const std::string& name, const Sha256& input,
                         const std::optional<Sha256>& result, unsigned threads) {
  const fs::path place = place_of(tree);
  const auto status = try_lstat(place);
  const std::string remedy =
      fmt::format("`{} {} {} {}` makes one", verb_text("view"), name, option_text("to"), shell_word(place.native()));
  if (!status || !S_ISDIR(status->st_mode))
    throw Error(FailureKind::usage, fmt::format("{} is no directory", printable(place.native())), remedy);
  if (is_in(fs::weakly_canonical(place), fs::weakly_canonical(store.directory())))
    throw Error(FailureKind::usage, fmt::format("{} lies in the store", printable(place.native())), remedy);
  const Sha256 root = root_of_tree(place, threads);
  if (root == input || root == result) return;
  throw Error(FailureKind::content, fmt::format("{} is not {} as it was verified", printable(place.native()), name),
              "its files would be lost: move them away; " + remedy);
}

fs::path replace_tree(Store& store, const Manifest& manifest, const fs::path& tree) {
  const fs::path place = place_of(tree);
  if (root_of_tree(place, 1) == manifest.root()) return place;
  const fs::path beside = place.native() + ".sabath-" + manifest.root().hex().substr(0, 12);
  std::error_code ignored;
  fs::remove_all(beside, ignored);  // of a call that was killed
  write_tree(store, manifest, beside, TreeFiles::shared);
  swap_trees(beside, place);
  fs::remove_all(beside, ignored);
  return place;
}

}  // namespace sabath
