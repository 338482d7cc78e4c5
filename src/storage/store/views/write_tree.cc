#include "store/views/write_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "sabath/error.h"
#include "sabath/path.h"
#include "store/views/view.h"

namespace sabath {

bool tree_stands(Store& store, const Manifest& manifest, const std::filesystem::path& to, TreeFiles files) {
  const auto top = try_lstat(to);
  if (!top || !S_ISDIR(top->st_mode)) return false;
  ViewEntries entries(store.state(), manifest, to, files);
  bool right = true;
  manifest.for_each([&](const Entry& entry) { right = right && entries.right(entry); });
  return right;
}

void write_tree(Store& store, const Manifest& manifest, const std::filesystem::path& to, TreeFiles files) {
  Store::State& state = store.state();
  if (files == TreeFiles::symlinks && state.layout.of_several_users()) {
    static_cast<void>(store.make_view(manifest));  // any member may replace the name of an object
  }
  const auto there = try_lstat(to);
  std::error_code error;
  if (there && (!S_ISDIR(there->st_mode) || !std::filesystem::is_empty(to, error))) {
    throw Error(FailureKind::usage, fmt::format("{} is there already, and is another tree", printable(to.native())),
                "name a directory that does not exist yet, or is empty");
  }
  const auto parent = std::filesystem::absolute(to).lexically_normal().parent_path();
  const auto name = std::filesystem::absolute(to).lexically_normal().filename().native();
  if (name.empty()) throw Error(FailureKind::usage, "name the new directory without a slash at its end");
  make_directories(parent);
  const auto beside = parent / fmt::format(".{}.sabath-{:x}", name, state.writer.nonce);
  try {
    make_directories(beside);
    ViewEntries entries(state, manifest, beside, files);
    manifest.for_each([&](const Entry& entry) { entries.make(entry); });
    entries.finish();
    if (there) ::rmdir(to.c_str());
    if (!rename_unless_there(beside, to)) {
      throw Error(FailureKind::usage, fmt::format("{} has appeared meanwhile", printable(to.native())),
                  "name another directory");
    }
    sync_directory(parent);
  } catch (const Error&) {
    remove_tree(beside);
    throw;
  }
}

}  // namespace sabath
