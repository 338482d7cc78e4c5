// Mirrors that a server tells in its headers (RFC 6249): metalink+https://host/file is the file at https://host/file,
// with what Link: rel=duplicate and Digest say of it, or with the metalink that Link: rel=describedby names.
#pragma once

#include "sabath/resolver.h"

namespace sabath {

// From the head of an answer: the file itself comes last, its mirrors by preference. Pure; throws Error{invalid}.
struct Document;
[[nodiscard]] ListedFile mirrors_in_head(const Document& head, const Url& file);

}  // namespace sabath
