// oci:// URLs and the answers of registries (OCI distribution and image specifications): oci://HOST/NAME:TAG or
// oci://HOST/NAME@sha256:DIGEST. A list of files is an artifact's manifest; a single file is the blob of that digest.
// Pure; any thread. Throws Error{unavailable} for a URL that names nothing, Error{invalid} for malformed answers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "sabath/resolver.h"
#include "sabath/url.h"

namespace sabath::oci {

struct Place {
  std::string origin;      // "https://HOST[:PORT]"; http for this machine's own addresses only
  std::string registry;    // "HOST[:PORT]"
  std::string repository;  // "lab/data"
  std::string tag;         // empty: a digest is named
  std::string sha256;      // 64 hexadecimal digits; empty: a tag is
  std::optional<Namer> namer{};
  [[nodiscard]] Url front_url() const;
  [[nodiscard]] Url manifest_url() const;
  [[nodiscard]] Url blob_url() const;
};
[[nodiscard]] Place place_of(const Url& url);

// The layers as files: their titles are their names. Throws Error{unavailable} for an index of several manifests.
[[nodiscard]] std::vector<ListedFile> parse_manifest(std::string_view body, const Place& place,
                                                     const std::string& source);

// WWW-Authenticate: Bearer realm="...",service="..."; nullopt: another way to log in.
struct Challenge {
  std::string realm, service;
};
[[nodiscard]] std::optional<Challenge> try_parse_challenge(std::string_view header);
// The URL that gives a token to read the repository. Throws Error{access} for a realm that is no place to ask.
[[nodiscard]] Url token_url(const Challenge& challenge, const Place& place);

struct Token {
  std::string text;
  std::chrono::seconds lifetime{60};
};
[[nodiscard]] Token parse_token(std::string_view body, const std::string& source);

}  // namespace sabath::oci
