// The place of an object: the host to ask, the path, the region. Pure; any thread. Throws Error{unavailable}
// for a URL that names no object, Error{usage} for settings that make no sense.
//
// A URL may say where its bucket is, by the parameters that Arrow has: s3://bucket/key?endpoint_override=HOST[:PORT]
// &scheme=http&region=R&force_virtual_addressing=true, and anonymous=true of our own.
#pragma once

#include <string>

#include "s3/profile.h"
#include "sabath/url.h"

namespace sabath::s3 {

struct Place {
  std::string origin;  // "https://host[:port]"
  std::string host;    // the Host header
  std::string path;    // not encoded, begins with '/'
  Fields query;        // not encoded
  std::string region;
  [[nodiscard]] Url url() const;
};

// True for the kind of endpoint whose regions have hosts of their own: Amazon's.
[[nodiscard]] bool is_amazon(const Profile& profile);

// What holds for a URL: its own words before the user's profile. Keys are for the user's endpoint, and no other.
[[nodiscard]] Profile profile_of(const Url& url, const Profile& own);

// `url` is s3://bucket/key. `region`: learnt from an answer; empty: the profile's.
[[nodiscard]] Place place_of(const Url& url, const Profile& profile, const std::string& region);
// The bucket itself, for listing.
[[nodiscard]] Place place_of_bucket(const std::string& bucket, const Profile& profile, const std::string& region);

// Letters, digits and '-', as a host name's part may have: anything else from an answer is not believed.
[[nodiscard]] bool is_region(std::string_view text);

}  // namespace sabath::s3
