#include "s3/refusal.h"

#include <algorithm>
#include <iterator>

#include "base/xml.h"
#include "s3/place.h"

namespace sabath::s3 {
namespace {

constexpr const char* keys_hint =
    "check the keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile (docs/credentials.md)";
constexpr const char* token_hint = "the session has ended: get new temporary keys, and set AWS_SESSION_TOKEN with them";
constexpr const char* path_hint = "check bucket and key, or use another mirror";
constexpr const char* busy_hint = "the server is overloaded or out of order; another mirror may do better";

struct Entry {
  std::string_view code;
  Meaning meaning;
};

// Amazon S3 API reference, "List of error codes".
constexpr Entry entries[] = {
    {"AccessDenied",
     {FailureKind::access,
      "these keys, or no keys, may not read this; a public bucket may want s3_anonymous, a private one your profile",
      true}},
    {"AllAccessDisabled", {FailureKind::access, "the bucket's owner has closed it"}},
    {"AuthorizationHeaderMalformed", {FailureKind::access, "check the region: s3_region, AWS_REGION or the profile"}},
    {"ExpiredToken", {FailureKind::access, token_hint}},
    {"InvalidAccessKeyId", {FailureKind::access, keys_hint}},
    {"InvalidObjectState",
     {FailureKind::access, "the object lies in an archive (GLACIER or the like): its owner must restore it first"}},
    {"RestoreAlreadyInProgress",
     {FailureKind::access, "it is being restored from an archive: come back in some hours"}},
    {"InvalidToken", {FailureKind::access, token_hint}},
    {"RequestTimeTooSkewed", {FailureKind::access, "this machine's clock is wrong"}},
    {"SignatureDoesNotMatch", {FailureKind::access, keys_hint}},
    {"TokenRefreshRequired", {FailureKind::access, token_hint}},
    {"MethodNotAllowed", {FailureKind::unavailable, "this version is a delete marker"}},
    {"NoSuchBucket", {FailureKind::unavailable, path_hint}},
    {"NoSuchKey", {FailureKind::unavailable, path_hint}},
    {"NoSuchVersion", {FailureKind::unavailable, path_hint}},
    {"PermanentRedirect", {FailureKind::unavailable, "set the bucket's region or endpoint: s3_region, s3_endpoint"}},
    {"PreconditionFailed", {FailureKind::changed, ""}},
    {"InternalError", {FailureKind::network, busy_hint}},
    {"RequestTimeout", {FailureKind::network, busy_hint}},
    {"ServiceUnavailable", {FailureKind::network, busy_hint}},
    {"SlowDown", {FailureKind::network, busy_hint}},
};

}  // namespace

Refusal parse_refusal(std::string_view body) {
  try {
    const XmlElement error = parse_xml(body);
    if (error.name != "Error") return {};
    const std::string region = error.text_of("Region");
    return {error.text_of("Code"), error.text_of("Message"), is_region(region) ? region : ""};
  } catch (const Error&) {
    return {};  // some servers answer in HTML, some in nothing: the status says enough
  }
}

std::optional<Meaning> try_meaning(std::string_view code) {
  const auto found =
      std::find_if(std::begin(entries), std::end(entries), [&](const Entry& e) { return e.code == code; });
  if (found == std::end(entries)) return std::nullopt;
  return found->meaning;
}

}  // namespace sabath::s3
