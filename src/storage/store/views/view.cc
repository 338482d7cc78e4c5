#include "store/views/view.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/counted.h"
#include "sabath/error.h"

namespace sabath {
namespace {

// Checked before anything is made: removing links again would cost each object's evidence.
void check_all_present(Store::State& store, const Manifest& manifest) {
  std::uint64_t missing = 0;
  std::string first;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file() || store.present(entry.digest)) return;
    if (missing++ == 0) first = entry.path.text();
  });
  if (missing == 0) return;
  throw Error(FailureKind::storage,
              fmt::format("{} of {} not in the store, the first is {}, of {}", missing,
                          counted(manifest.totals().files, "file is", "files are"), first, manifest.root().prefixed()),
              "fetch again: only these are fetched anew");
}

// In a store of several users a view is in its user's own room; a member may still have had it put there.
bool is_ours_alone(const Store::State& store, const std::filesystem::path& view) {
  return !store.layout.of_several_users() || is_room_of(view, ::geteuid());
}

// The tree gets the view's name; false if a view has appeared meanwhile.
bool try_name(Store::State& store, const std::filesystem::path& tree, const Sha256& root) {
  const auto view = store.layout.view(root);
  make_directories(view.parent_path());
  if (!rename_unless_there(tree, view)) return false;
  sync_directory(view.parent_path());
  return true;
}

// Builds it under a temporary name.
bool try_make_whole(Store::State& store, const Manifest& manifest) {
  const auto tree = store.temporaries.new_directory();
  try {
    ViewEntries entries(store, manifest, tree);
    manifest.for_each([&](const Entry& entry) { entries.make(entry); });
    entries.finish();
    if (try_name(store, tree, manifest.root())) return true;
  } catch (const Error&) {
    unmake(store, manifest, tree);
    throw;
  }
  unmake(store, manifest, tree);
  return false;
}

}  // namespace

void unmake(Store::State& store, const Manifest& manifest, const std::filesystem::path& tree) noexcept {
  try {
    ViewEntries entries(store, manifest, tree);
    manifest.for_each([&](const Entry& entry) { entries.remove_file(entry); });
  } catch (const std::exception&) {  // the rest costs a re-hash
  }
  remove_tree(tree);
}

bool try_show_grown(Store::State& store, const Manifest& manifest, const std::filesystem::path& tree,
                    GrownFiles& grown) {
  if (try_lstat(store.layout.view(manifest.root()))) return false;
  ViewEntries entries(store, manifest, tree);
  std::uint64_t stood = 0;
  manifest.for_each([&](const Entry& entry) {
    const bool stands = entry.type == EntryType::file && grown.has(entry.path.text(), entry.digest);
    stood += stands || entries.complete(entry) ? 1 : 0;
  });
  entries.finish();
  return stood == grown.size() &&
         try_name(store, tree, manifest.root());  // else the tree has a file that no entry names
}

bool Store::view_present(const Manifest& manifest) {
  state_->uses.use(manifest.root(), true);
  const auto view = view_path(manifest.root());
  const auto there = try_lstat(view);
  if (!there || !S_ISDIR(there->st_mode) || !is_ours_alone(*state_, view)) return false;
  ViewEntries entries(*state_, manifest, view);
  bool right = true;
  manifest.for_each([&](const Entry& entry) { right = right && entries.right(entry); });
  state_->evidence.flush();
  return right;
}

std::filesystem::path Store::make_view(const Manifest& manifest) {
  state_->uses.use(manifest.root(), true);
  const auto view = view_path(manifest.root());
  check_all_present(*state_, manifest);
  const auto there = try_lstat(view);
  if (there && !S_ISDIR(there->st_mode)) remove_tree(view);
  if (there && S_ISDIR(there->st_mode) && !is_ours_alone(*state_, view)) {
    throw Error(FailureKind::invalid, view.native() + " is not this user's own",
                "its owner, or the store's, must remove it: nothing in it can be believed");
  }
  if ((!there || !S_ISDIR(there->st_mode)) && try_make_whole(*state_, manifest)) return view;
  ViewEntries entries(*state_, manifest, view);
  manifest.for_each([&](const Entry& entry) {
    if (!entries.right(entry)) entries.mend(entry);
  });
  entries.finish();
  return view;
}

std::optional<ContentPlace> Store::place_of(const Sha256& root, const Entry& entry) const {
  const Digest& digest = entry.digest;
  if (state_->layout.of_several_users()) {
    auto shown = TrustedViews::of_user(*state_, root).find(entry);
    return shown ? std::optional(ContentPlace{std::move(*shown), 0, digest.size_bytes}) : std::nullopt;
  }
  const auto object = state_->layout.object(digest);
  if (try_stat(object)) return ContentPlace{object, 0, digest.size_bytes};
  const auto place = state_->packs.find(digest);
  if (!place || place->member.codec != PackCodec::raw) return std::nullopt;
  return ContentPlace{place->pack->file, place->member.offset, digest.size_bytes};
}

}  // namespace sabath
