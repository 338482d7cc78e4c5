#include "fetch/known_tree.h"

#include <utility>

#include "fetch/hosts/source_key.h"

namespace sabath {
namespace {

// What these sources gave before. Where that is doubted they are asked again, if they can be.
KnownTree learnt_tree(const Store& store, const Recipe& recipe, const AssetRequest& request,
                      const Selection& selection = {}) {
  KnownTree tree;
  const auto learnt = learnt_of(store, recipe, selection);
  if (!learnt || (!learnt->doubt.empty() && !request.offline)) return tree;
  tree.learnt = store.manifest(learnt->ref.root);
  tree.trusted_by = learnt->ref.trusted_by;
  if (!learnt->doubt.empty()) tree.doubt = text_of_doubt(recipe.name, *learnt);
  return tree;
}

KnownTree pinned_tree(const Store* store, const Recipe& recipe, const AssetRequest& request, const Manifest* pinned) {
  KnownTree tree;
  tree.pinned = pinned;
  tree.trusted_by = "pinned";
  const bool noted = store != nullptr && pinned != nullptr;
  tree.level = noted ? level_of_known(*store, recipe, request, pinned->root()) : Reuse::content;
  return tree;
}

// A part has a root of its own, learnt under a key of its own. Else patterns choose from a whole whose names are all
// known; a sample's order only its sources know.
KnownTree part_of(KnownTree whole, const Store* store, const Recipe& recipe, const AssetRequest& request,
                  const Selection& selection) {
  if (store != nullptr && whole.pinned == nullptr) {
    if (KnownTree part = learnt_tree(*store, recipe, request, selection); part.learnt) return part;
  } else if (store != nullptr) {
    const auto ref = store->ref(source_key(recipe, store->source_names(), selection, whole.pinned->root()));
    KnownTree part;
    if (ref) part.learnt = store->manifest(ref->root);
    if (part.learnt) part.trusted_by = ref->trusted_by;
    if (part.learnt) return part;
  }
  if (selection.sample) return {};
  whole.narrowed = whole.manifest() != nullptr;
  return whole;
}

}  // namespace

Selection selection_of(const Recipe& recipe, const AssetRequest& request) {
  return recipe.fragments.empty() ? Selection{} : request.selection;
}

bool is_pinned(const Recipe& recipe, const AssetRequest& request) {
  return request.pin || recipe.manifest || !request.manifest_file.empty();
}

KnownTree know_tree(const Store* store, const Recipe& recipe, const AssetRequest& request, bool force,
                    const Manifest* pinned) {
  const bool by_pin = is_pinned(recipe, request);
  KnownTree tree;
  if (by_pin) {
    tree = pinned_tree(store, recipe, request, pinned);
  } else if (store != nullptr) {
    tree = learnt_tree(*store, recipe, request);
  }
  const Selection selection = selection_of(recipe, request);
  const bool provable = !by_pin || pinned != nullptr;  // by the whole that is pinned
  if (!selection.empty() && provable) tree = part_of(std::move(tree), store, recipe, request, selection);
  const bool known = tree.manifest() != nullptr;
  tree.binds = known && (by_pin || (!force && !request.refresh));  // what is learnt anew may be another root
  tree.suffices = tree.binds && !force && request.locals.empty();
  return tree;
}

Reuse level_of_known(const Store& store, const Recipe& recipe, const AssetRequest& request, const Sha256& root) {
  return !is_pinned(recipe, request) || store.ref(pinned_key(recipe, root)) ? Reuse::source : Reuse::content;
}

std::optional<Sha256> known_root(const Store& store, const Recipe& recipe, const std::optional<ManifestPin>& pin) {
  if (pin) return pin->digest;
  if (recipe.manifest) return recipe.manifest->digest;
  const auto learnt = learnt_of(store, recipe);
  return learnt && learnt->doubt.empty() ? std::optional(learnt->ref.root) : std::nullopt;
}

bool all_present(Store& store, const Manifest& manifest) {
  bool present = true;
  manifest.for_each([&](const Entry& entry) {
    if (present && entry.is_file()) present = store.present(entry.digest);
  });
  return present;
}

}  // namespace sabath
