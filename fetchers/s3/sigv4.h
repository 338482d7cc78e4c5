// Signatures of Amazon's version 4 for requests without a body, as S3 wants them: the path is encoded once and not
// normalised. By hand, because libcurl 7.88 signs paths with '(' or '=', unsorted queries and parameters without a
// value wrongly. Source: "Authenticating Requests (AWS Signature Version 4)" in the Amazon S3 API reference. Pure; any
// thread.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/secret.h"

namespace sabath::s3 {

struct Keys {
  std::string access_key_id;
  Secret secret, session_token;  // the token may be empty
  [[nodiscard]] bool empty() const noexcept { return access_key_id.empty(); }
};

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Unsigned {
  std::string method = "GET";
  std::string host;  // the Host header: with the port, unless it is the scheme's own
  std::string path;  // not encoded, begins with '/'
  Fields query;      // not encoded, in any order
  Fields headers;    // more to sign: names in lower case
  std::string region;
  std::string service = "s3";
  bool payload_hash = true;  // sign and send x-amz-content-sha256, as S3 wants and other services do not
};

// Everything but A-Z a-z 0-9 - . _ ~ as %XX; '/' too, unless it stays.
[[nodiscard]] std::string uri_encode(std::string_view text, bool keep_slash);
[[nodiscard]] std::string canonical_query(const Fields& query);  // encoded and sorted: also what is to be sent

[[nodiscard]] std::string canonical_request(const Unsigned& request, const Fields& signed_headers);
// The headers to send: x-amz-date, Authorization and what belongs to them. Without keys: none.
[[nodiscard]] std::vector<std::string> sign(const Unsigned& request, const Keys& keys, std::time_t now);

}  // namespace sabath::s3
