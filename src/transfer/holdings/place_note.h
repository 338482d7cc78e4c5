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
// The place for which an asset is made; empty: any.
[[nodiscard]] std::string place_of_asset(const Store& store, const Manifest& manifest);
// For people: it is at another one; empty: it is not, or that place leads here.
[[nodiscard]] std::string warning_of_place(const std::string& place, const std::filesystem::path& where);
void warn_of_place(const std::string& place, const std::filesystem::path& where, EventSink& events);

}  // namespace sabath
