// The hash that stands in the name of content: oci://HOST/NAME@sha256:HEX, lfs+https://HOST/REPOSITORY/info/lfs/OID,
// ni://HOST/sha-256;BASE64 (RFC 6920), also as https://HOST/.well-known/ni/sha-256/BASE64, a blob or
// manifest of a registry by https, content of a store by its checksum, and #sha256=HEX behind a web address. The bytes
// are compared with it, from any source, as with a checksum of the recipe. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sabath/recipe.h"
#include "sabath/url.h"

namespace sabath {

// Empty: its name says nothing of what it holds. Throws Error{invalid} for a hash that is not computed here, or two.
[[nodiscard]] Checksums checksum_in_name(const Url& url);

// Takes along what the names of a file's sources say. Throws Error{invalid} where two of them, or one and what is
// published, cannot be of the same bytes.
void add_named_checksums(const std::vector<Url>& urls, Checksums& published);

// "sha-256;BASE64" or "sha-256/BASE64" of RFC 6920, base64 as in file names, without padding. nullopt: no hash, or one
// that is not computed here.
[[nodiscard]] std::optional<Checksums> try_parse_ni(std::string_view text);

}  // namespace sabath
