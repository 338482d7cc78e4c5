// What a client may ask a store for, by the path of its request. docs/serving.md, "Paths". Pure; any thread.
//
// Parsing is strict: names of content in one spelling only, so that nothing of a request ever becomes part of a file's
// name but digits that were parsed.
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

[[nodiscard]] std::optional<Target> try_parse_target(std::string_view path);

}  // namespace sabath
