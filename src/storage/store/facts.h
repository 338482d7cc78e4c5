// What the files of an asset were found to say of themselves, kept beside its ref: facts/<root>. It is for people who
// search, and says nothing of content. Owned by the Store; any thread. docs/store.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "store/disk/layout.h"

namespace sabath {

class Store;

inline constexpr std::size_t facts_size_max = 1 << 20;  // bytes of one file

// Throws Error{storage}, Error{space}.
void keep_facts(Store& store, const Sha256& root, const std::string& text);
[[nodiscard]] bool has_facts(const Layout& layout, const Sha256& root);
// nullopt: there are none, or they cannot be read.
[[nodiscard]] std::optional<std::string> try_facts(const Layout& layout, const Sha256& root);
// Of all roots, the texts of at most `most` files; what cannot be read is left out. Throws nothing but std::bad_alloc.
[[nodiscard]] std::vector<std::string> all_facts(const Layout& layout, std::size_t most);

}  // namespace sabath
