// The meaning of S3's error answers: the code in the body says more than the status. Pure; any thread; throws nothing
// but bad_alloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sabath/error.h"

namespace sabath::s3 {

constexpr std::size_t refusal_size_max = 64 * 1024;  // bytes of a body that are looked at

struct Refusal {
  std::string code;     // "NoSuchKey"; empty: the body says none
  std::string message;  // the server's words: escape before showing
  std::string region;   // where the bucket is, if the answer says so
};

[[nodiscard]] Refusal parse_refusal(std::string_view body);

// The kind and hint of a code; nullopt for one that is not known: then the status decides.
struct Meaning {
  FailureKind kind;
  const char* hint;
  bool general = false;  // the code says no more than the status does: the caller knows better why
};
[[nodiscard]] std::optional<Meaning> try_meaning(std::string_view code);

}  // namespace sabath::s3
