// An environment of conda is made for one place, which its environment.json names. One thread. Throws Error{storage}.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "manifest/manifest.h"
#include "sabath/event.h"
#include "store/store.h"

namespace sabath {

// The place that the text of an environment.json names; empty: none, or it is another file of this name.
[[nodiscard]] std::string place_in_note(std::string_view text);
// Warns if the asset is made for another place than the one where it will be.
void warn_of_place(const Store& store, const Manifest& manifest, const std::filesystem::path& where,
                   EventSink& events);

}  // namespace sabath
