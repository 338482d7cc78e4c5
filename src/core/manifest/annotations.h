// The annotations of a manifest: a note on the asset as a whole, and whole-file checksums that a source published, by
// path. They stand outside the root's hash, so any party may have set them, and they must never decide that content is
// equal. Format: docs/manifest.md.
// Pure; any thread. Throws Error{invalid}.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

// The checksums as bytes: one byte of flags (1 md5, 2 sha1, 4 sha256, 8 sha224, 16 sha384, 32 sha512), then the
// checksums, in this order.
[[nodiscard]] std::string encode_checksums(const Checksums& checksums);

void put_annotation(std::string& out, std::string_view path, std::string_view encoded);

inline constexpr std::size_t note_size_max = std::size_t{1} << 20;
// Refuses a note that is no JSON object in the canonical form: keys in byte order, no spaces, no fractions.
void check_note(std::string_view note);
void put_note(std::string& out, std::string_view note);  // before all other annotations

// The note alone, however many annotations follow, which are not looked at; "" if there is none. Points into `bytes`.
[[nodiscard]] std::string_view first_note(std::string_view bytes);
// Visits checksums in tree order; returns the note, "" if there is none, which points into `bytes`. Refuses bytes that
// a builder would not write, but does not look into the note.
std::string_view parse_annotations(std::string_view bytes,
                                   const std::function<void(std::string_view path, const Checksums&)>& visit);

}  // namespace sabath
