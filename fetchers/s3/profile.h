// One profile in ~/.aws/config and ~/.aws/credentials, as far as it is needed to read from S3: keys, region, endpoint,
// addressing. Settings that only Amazon's own programs can follow (SSO, roles, credential_process) are noted, to be
// explained. Pure but for reading the files; any thread. Throws Error{access} for a key file that others may read,
// Error{invalid} as "file:line: what is wrong", Error{usage} for a profile that does not exist.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "s3/sigv4.h"
#include "sabath/credentials.h"
#include "sabath/url.h"

namespace sabath::s3 {

struct Profile {
  Keys keys;
  std::string region, endpoint_url, addressing;
  std::string elsewhere;  // the setting by which a program or a service would have to be asked for keys; empty: none
  std::optional<Namer> endpoint_namer{};  // of an endpoint that a URL of others names
};

// section -> setting -> value; of a nested setting "outer.inner". `origin` names the file in messages.
using Sections = std::map<std::string, std::map<std::string, std::string>>;
[[nodiscard]] Sections parse_sections(std::string_view text, const std::string& origin);

[[nodiscard]] Profile read_profile(const S3Settings& settings);

}  // namespace sabath::s3
