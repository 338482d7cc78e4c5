// BagIt bags on a server (RFC 8493): https://host/bag/bagit.txt is the bag that stands there, with the files that its
// fetch.txt names elsewhere. The parts of a bag as text are read by pure functions, which throw Error{invalid}.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/resolver.h"

namespace sabath {

struct BagDeclaration {
  std::string version;             // "1.0"
  std::string encoding = "utf-8";  // of all other tag files, in lower case; a name, which no system need know
};
[[nodiscard]] BagDeclaration parse_bag_declaration(std::string_view text, const Url& source);

struct BagSum {
  RelativePath path;
  std::string hex;  // lower case; of the length that the manifest's algorithm has
};
[[nodiscard]] std::vector<BagSum> parse_bag_manifest(std::string_view text, const ChecksumAlgorithm& algorithm,
                                                     const Url& source);

struct BagFetch {
  RelativePath path;
  Url url;
  std::optional<std::uint64_t> size_bytes;
};
[[nodiscard]] std::vector<BagFetch> parse_bag_fetch(std::string_view text, const Url& source);

// The number of files in bag-info.txt's Payload-Oxum; nullopt: it does not say.
[[nodiscard]] std::optional<std::uint64_t> parse_bag_files(std::string_view text, const Url& source);

}  // namespace sabath
