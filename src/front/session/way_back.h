// How content that a store does not hold whole comes back: by a fetch, by steps of a person, or, where the user changed
// a file that was adopted, by adopting again. Free functions; one thread.
#pragma once

#include <filesystem>
#include <string>

#include "manifest/manifest.h"
#include "recipe/recipe_file.h"
#include "store/store.h"

namespace sabath {

// Of a view's link to a file that was adopted: "/data/x, which was adopted, has changed since". Empty: it is no such
// link.
[[nodiscard]] std::string loss_of_adopted(const std::filesystem::path& link);

// A hint: what to type. `store` and `manifest`: of the asset as it was; nullptr: not known.
[[nodiscard]] std::string way_back(const Recipe& recipe, Store* store, const Manifest* manifest);

}  // namespace sabath
