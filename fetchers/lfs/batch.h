// The words of Git LFS's batch API (git-lfs, docs/api/batch.md): the question for one object and its answer. Pure.
// Throws Error{unavailable} for an object that the server does not have, Error{access}, Error{invalid}.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/url.h"

namespace sabath::lfs {

// lfs+https://host/repo.git/info/lfs/<oid>?size=N is one object of that repository's server.
struct Object {
  Url server;  // https://host/repo.git/info/lfs
  std::string oid;
  std::uint64_t size_bytes = 0;
  [[nodiscard]] Url batch_url() const;
  [[nodiscard]] std::string question() const;
};
[[nodiscard]] Object parse_object(const Url& url);

struct Action {
  Url href;
  std::vector<std::string> headers;   // "Name: value": for the href's host only
  std::chrono::seconds lifetime{60};  // it may be used for so long
};
[[nodiscard]] Action parse_batch(std::string_view body, const Object& object);

}  // namespace sabath::lfs
