// What is known of an asset before a source is asked: the root that its pin names or its sources gave before, and what
// follows from it. This is decided here alone: a fetch carries it out, `plan` and `--dry-run` report it. The store is
// read, not changed. Any thread. Throws Error{storage}, Error{invalid}.
#pragma once

#include <optional>
#include <string>

#include "fetch/asset.h"
#include "manifest/manifest.h"
#include "sabath/event.h"
#include "sabath/recipe.h"
#include "sabath/verbs/fetch.h"
#include "store/store.h"

namespace sabath {

struct KnownTree {
  const Manifest* pinned = nullptr;  // what the pin names
  std::optional<Manifest> learnt;    // what these sources gave before, of the part or of the whole
  bool narrowed = false;             // the manifest is of the whole, and patterns choose from it
  bool suffices = false;             // where all of it is here, no source is asked
  bool binds = false;                // the sources have to give it
  Reuse level = Reuse::source;       // how that what is here of it is known
  std::string trusted_by;            // empty: nothing is known
  std::string doubt;                 // for people: why it is believed only if no source can be asked; empty: no doubt
  // Of what was asked for; or of the whole, where it is narrowed; nullptr: not known.
  [[nodiscard]] const Manifest* manifest() const { return learnt ? &*learnt : pinned; }
};

// The part of the fragments that was asked for. Sources other than fragments come whole.
[[nodiscard]] Selection selection_of(const Recipe& recipe, const AssetRequest& request);
[[nodiscard]] bool is_pinned(const Recipe& recipe, const AssetRequest& request);

// `store`: nullptr: there is none yet. `pinned`: the manifest that the pin names, of the whole; nullptr: it is not
// known. `force`: what an earlier fetch left is not believed.
[[nodiscard]] KnownTree know_tree(const Store* store, const Recipe& recipe, const AssetRequest& request, bool force,
                                  const Manifest* pinned);

// How that what is here of a root is known that was known before anything is asked: these sources gave it before, or
// others did.
[[nodiscard]] Reuse level_of_known(const Store& store, const Recipe& recipe, const AssetRequest& request,
                                   const Sha256& root);

// The root that is known for the whole of this recipe without asking a source: pinned, or learnt earlier.
[[nodiscard]] std::optional<Sha256> known_root(const Store& store, const Recipe& recipe,
                                               const std::optional<ManifestPin>& pin);

[[nodiscard]] bool all_present(Store& store, const Manifest& manifest);

}  // namespace sabath
