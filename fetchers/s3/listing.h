// Listing a bucket, page by page (ListObjectsV2), to resolve "s3://bucket/prefix/" to objects: the query of a page, and
// what its answer says. Pure; throws Error{unavailable} for an answer that is none, Error{invalid} for one that breaks
// its bounds.
//
// An ETag is never a checksum here: it is the MD5 of some objects, and of others (in parts, encrypted) it only looks
// so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "s3/sigv4.h"

namespace sabath::s3 {

struct ListedObject {
  std::string key;  // as the bucket has it: any bytes but NUL
  std::uint64_t size_bytes = 0;
  std::string etag;      // with its quotes
  std::string modified;  // ISO 8601
};

struct ListPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes;  // with a delimiter: the "directories"
  std::string next;                   // of the next page; empty: this was the last
};

[[nodiscard]] Fields list_query(const std::string& prefix, const std::string& delimiter, const std::string& next);
[[nodiscard]] ListPage parse_list_page(std::string_view body);

}  // namespace sabath::s3
