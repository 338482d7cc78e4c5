// Mirrors that a server tells in its headers (RFC 6249): metalink+https://host/file is the file at https://host/file,
// with what Link: rel=duplicate and Digest say of it, or with the metalink that Link: rel=describedby names.
#pragma once

#include <memory>

#include "curl/transport.h"
#include "sabath/resolver.h"

namespace sabath {

// From the head of an answer: the file itself comes last, its mirrors by preference. Pure; throws Error{invalid}.
struct Document;
[[nodiscard]] ListedFile mirrors_in_head(const Document& head, const Url& file);

[[nodiscard]] std::unique_ptr<Resolver> make_mirrors_resolver(std::shared_ptr<Transport> transport);

}  // namespace sabath
