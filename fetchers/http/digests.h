// What a head says of its content by hashes (RFC 9530, RFC 3230). Pure.
#pragma once

#include <string_view>

#include "sabath/recipe.h"

namespace sabath {

// "SHA-256=BASE64, SHA-512=BASE64" (Digest), or "sha-512=:BASE64:" (Repr-Digest, Content-Digest). Only what is strong
// enough to tell one content from another counts; a digest that cannot be read is none.
[[nodiscard]] Checksums parse_digests(std::string_view fields);

// The ETag of a hub: the SHA-256 of content in LFS, or git's name of a blob. Of others, nothing.
[[nodiscard]] Checksums parse_hub_etag(std::string_view etag);

}  // namespace sabath
