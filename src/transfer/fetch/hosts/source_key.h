// Names of sources: the hash of what is asked, so that nothing is asked twice. Pure but for learnt_of() and learn();
// any thread.
//
// Content that a checksum proves is named by the checksum and the first URL: it is the same from every mirror. All else
// is the word of a mirror. It is named by all mirrors that may have given it (source_key), and by the one that did
// (given_key), as this user asks them: rewrite rules, an endpoint, an alias make another source of the same URL.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "fetch/decide/job.h"
#include "sabath/digest.h"
#include "sabath/recipe.h"
#include "sabath/verbs/fetch.h"
#include "store/store.h"

namespace sabath {

// The bytes of one file: its URLs, size and checksums, and where it begins in which version of them. Names partials of
// unknown content.
[[nodiscard]] Sha256 source_key(const FileJob& job);
// The content that this mirror gives, apart from what recipes say of it.
[[nodiscard]] Sha256 given_key(const FileJob& job, std::size_t mirror);
// The mirror whose bytes a partial holds, by its note, which has its given_key. nullopt: none of the job's mirrors.
[[nodiscard]] std::optional<std::size_t> giver_of(const FileJob& job, const SourceVersion& version);
// A fragment: URLs, type, limit, size, checksums, where it stands, and which part of it was asked for. Names what
// was learnt of it.
[[nodiscard]] Sha256 source_key(const Fragment& fragment, const SourceNames& names, const Selection& selection = {});
[[nodiscard]] Sha256 given_key(const Fragment& fragment, std::size_t mirror, const SourceNames& names,
                               const Selection& selection = {});
[[nodiscard]] Sha256 source_key(const GitSource& git);
// The whole asset: its fragments and its git source; or a part of it, which under another pin is another thing.
[[nodiscard]] Sha256 source_key(const Recipe& recipe, const SourceNames& names, const Selection& selection = {},
                                const std::optional<Sha256>& pin = std::nullopt);
// The same as SABATH 0.1 named it: by first URLs as they are written. The same key where checksums prove all of it.
[[nodiscard]] Sha256 earlier_key(const Recipe& recipe, const Selection& selection = {});
// The same by all URLs as they are written: where settings make others of them, the last that any settings brought.
[[nodiscard]] Sha256 said_key(const Recipe& recipe, const Selection& selection = {});
// The whole asset by its pin. Not for learning a root: the ref under it says what is kept, and where it comes from.
[[nodiscard]] Sha256 pinned_key(const Recipe& recipe, const Sha256& root);
// Of what a part of the asset, or of a fragment, is found by: part_key(this, its root). The ref under it says whose
// part a tree is, so that it goes with the asset.
[[nodiscard]] Sha256 parts_key(const Recipe& recipe);
[[nodiscard]] Sha256 parts_key(const Fragment& fragment);
[[nodiscard]] Sha256 part_key(const Sha256& parts, const Sha256& root);
void note_part(Store& store, const Recipe& recipe, const Ref& ref);
// A tree that a bundle brought, and no recipe has named.
[[nodiscard]] Sha256 bundle_key(const Sha256& root);
[[nodiscard]] std::string source_of(const Recipe& recipe);  // its first, for people; may be empty
[[nodiscard]] Sha256 tar_index_key(const Url& source, const SourceNames& names);

// The checksums that a fragment states, or all fragments of a recipe; empty: none. A ref "checksum" holds what it
// proved.
[[nodiscard]] std::string proof_of(const Fragment& fragment);
[[nodiscard]] std::string proof_of(const Recipe& recipe);
// False: the ref is of content that other checksums proved.
[[nodiscard]] bool fits(const Ref& ref, const Fragment& fragment);
[[nodiscard]] bool fits(const Ref& ref, const Recipe& recipe);

// The store's knowledge of an asset, or of a part of it, without a pin.
struct Learnt {
  Ref ref;
  std::string doubt;  // why another source than these may have given it, unproven: good enough where none can be asked
};
[[nodiscard]] std::optional<Learnt> learnt_of(const Store& store, const Recipe& recipe,
                                              const Selection& selection = {});
[[nodiscard]] std::string text_of_doubt(const std::string& name, const Learnt& learnt);
void learn(Store& store, const Recipe& recipe, const Ref& ref, const Selection& selection = {});

}  // namespace sabath
