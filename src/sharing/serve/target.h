// The things that a client may ask a store for, by the path of its request. docs/serving.md, "Paths". Pure; any thread.
//
// Parsing is strict: a name of content has one spelling only, so that only parsed digits of a request can become part
// of a file's name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sabath/digest.h"

namespace sabath {

struct Target {
  enum class Kind { about, object, manifest, checksum } kind = Kind::about;
  Digest digest;               // object
  Sha256 root;                 // manifest
  std::string algorithm, hex;  // checksum: a published one, of a whole file
};

// A request names its target by a path alone, or by a whole address, as to a proxy (RFC 9112 section 3.2.2).
struct RequestTarget {
  std::string_view authority;  // empty: the Host field has it
  std::string_view path;
};
[[nodiscard]] RequestTarget split_target(std::string_view text);

[[nodiscard]] std::optional<Target> try_parse_target(std::string_view path);

}  // namespace sabath
