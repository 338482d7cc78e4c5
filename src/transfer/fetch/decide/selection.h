// Which files of an asset were asked for: --sample and --select. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/glob.h"
#include "manifest/manifest.h"
#include "sabath/path.h"
#include "sabath/verbs/fetch.h"

namespace sabath {

// Throws Error{usage} for what can select nothing: a sample of none, a pattern that is no relative path.
void check_selection(const Selection& selection);

// True if one of the patterns matches, or there is none, and no "!PATTERN" does, which leaves out.
[[nodiscard]] bool selects(const Selection& selection, const RelativePath& path);
[[nodiscard]] bool selects(const Selection& selection, std::string_view name);  // which need be no path

// The entries that the patterns select: files and symlinks. The sample's number says nothing here: a manifest does not
// know the order of its sources.
void add_selected(ManifestBuilder& builder, const Manifest& whole, const Selection& selection);

[[nodiscard]] std::string to_text(const Selection& selection);  // for people: "the first 4 of train/**"

}  // namespace sabath
