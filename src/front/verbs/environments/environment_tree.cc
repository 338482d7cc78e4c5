#include "verbs/environments/environment_tree.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "holdings/holding.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/lookup.h"
#include "verbs/assets/assets.h"
#include "verbs/manifests/tree_manifest.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_plain(const std::string& named) {
  throw Error(
      FailureKind::not_found, fmt::format("{} is no packed environment", printable(named, 1000)),
      fmt::format("`{}` shows those that are here, `{}` makes one", verb_text("env list"), verb_text("env pack")));
}

EnvironmentTree tree_of_directory(const std::string& named, bool hashes, EventSink& events,
                                  const std::stop_token& stop) {
  EnvironmentTree tree;
  tree.name = named;
  tree.place = fs::canonical(absolute_path(named));
  const auto text = try_read_text(tree.place / environment_note_name, environment_note_max);
  if (!text) refuse_plain(named);
  tree.note = parse_environment_note(*text, (tree.place / environment_note_name).string());
  if (!hashes) return tree;
  ManifestBuilder builder;
  hash_tree(builder, tree.place, 0, events, stop);
  tree.manifest = Manifest::parse(builder.bytes());
  return tree;
}

bool is_directory_name(const std::string& named) {
  if (named.find('/') == std::string::npos) return false;
  const auto status = try_stat(named);
  return status && S_ISDIR(status->st_mode);
}

}  // namespace

std::optional<std::string> EnvironmentTree::text(const Entry& entry, std::uint64_t size_max) const {
  return store ? store->text_of(entry.digest, size_max) : try_read_text(place / entry.path.text(), size_max);
}

EnvironmentTree environment_tree(const SessionSettings& settings, const std::string& named, bool hashes,
                                 EventSink& events, const std::stop_token& stop) {
  if (is_directory_name(named)) return tree_of_directory(named, hashes, events, stop);
  EnvironmentTree tree;
  tree.name = named;
  tree.in_store = true;
  tree.manifest = find_manifest(named, settings);
  tree.store = try_open_store(settings);
  if (!has_environment_note(*tree.manifest)) refuse_plain(named);
  auto note = tree.store ? try_note_in(*tree.store, *tree.manifest, named) : std::nullopt;
  if (!note)
    throw Error(FailureKind::offline, fmt::format("{} is not in the store, wholly", printable(named, 1000)),
                fmt::format("{} {}", verb_text("fetch"), named));
  tree.note = std::move(*note);
  if (const auto view = standing_view(*tree.store, tree.manifest->root())) tree.place = *view;
  return tree;
}

}  // namespace sabath
