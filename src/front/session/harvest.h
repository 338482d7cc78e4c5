// Keeps what an asset's files say of themselves beside its ref, for `search`. After a fetch or an adoption; bounded by
// 16 files and ten seconds; never a reason for either to fail. docs/metadata.md. One thread.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/event.h"
#include "sabath/recipe.h"
#include "store/store.h"

namespace sabath {

struct HarvestedFacts {
  std::string name;
  AssetKind kind = AssetKind::dataset;
  std::vector<std::string> lines;  // file_facts.h
  std::vector<std::string> files;  // that said them
};

// `tree`: the directory in which the files of `root` stand. Nothing is done where it is known what they say.
void harvest(Store& store, const Sha256& root, const std::filesystem::path& tree, const std::string& name,
             AssetKind kind, const std::filesystem::path& program, EventSink& events, const std::stop_token& stop);

// Of one root; nullopt: nothing is known. As below.
[[nodiscard]] std::optional<HarvestedFacts> harvested_of(const Layout& layout, const Sha256& root);

// Of all assets of a store, at most 2,000. What cannot be read is left out: it is a hint. Throws nothing but
// std::bad_alloc.
[[nodiscard]] std::vector<HarvestedFacts> harvested(const Layout& layout);

}  // namespace sabath
