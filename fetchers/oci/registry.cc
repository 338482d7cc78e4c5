#include "oci/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.h"
#include "base/percent.h"
#include "base/text.h"
#include "sabath/error.h"

namespace sabath::oci {
namespace {

constexpr JsonLimits manifest_limits = {4UL << 20, 16, 100'000};
constexpr std::string_view title_key = "org.opencontainers.image.title";

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_repository(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '/';
  });
  return plain && !text.empty() && text.size() <= 255 && text.front() != '/' && text.back() != '/' &&
         text.find("//") == text.npos && text.find("..") == text.npos;
}

bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= 128 && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-';
         });
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

std::string sha256_in(const std::string& digest, const JsonObject& object) {
  const std::string hex = digest.starts_with("sha256:") ? digest.substr(7) : "";
  if (!is_sha256(hex)) object.fail("digest", "must be sha256 to be checked here");
  return hex;
}

}  // namespace

Url Place::manifest_url() const {
  return Url::parse(fmt::format("{}/v2/{}/manifests/{}", origin, repository, tag.empty() ? "sha256:" + sha256 : tag))
      .named_by(namer);
}

Url Place::blob_url() const {
  return Url::parse(fmt::format("{}/v2/{}/blobs/sha256:{}", origin, repository, sha256)).named_by(namer);
}

Url Place::front_url() const { return Url::parse(origin + "/v2/").named_by(namer); }

Place place_of(const Url& url) {
  const auto refuse = [&](const char* why) {
    throw Error(FailureKind::unavailable, fmt::format("{} names nothing in a registry: {}", url.display(), why),
                "write oci://HOST/NAME:TAG or oci://HOST/NAME@sha256:DIGEST");
  };
  Place place{
      .origin = {}, .registry = url.host(), .repository = {}, .tag = "latest", .sha256 = {}, .namer = url.namer()};
  if (url.port()) place.registry += fmt::format(":{}", *url.port());
  place.origin = (is_this_machine(url.host()) ? "http://" : "https://") + place.registry;
  if (!url.query().empty() || url.path().size() < 2) refuse("a name is needed");
  place.repository = url.path().substr(1);
  const std::size_t at = place.repository.find('@');
  const std::size_t colon = place.repository.find(':');
  if (at != std::string::npos) {
    const std::string digest = place.repository.substr(at + 1);
    place.sha256 = digest.starts_with("sha256:") ? digest.substr(7) : "";
    if (!is_sha256(place.sha256)) refuse("the digest is no sha256");
    place.tag.clear();
    place.repository.resize(std::min(at, colon));
  } else if (colon != std::string::npos) {
    place.tag = place.repository.substr(colon + 1);
    place.repository.resize(colon);
    if (!is_tag(place.tag)) refuse("the tag is malformed");
  }
  if (!is_repository(place.repository)) refuse("the name is malformed");
  return place;
}

std::vector<ListedFile> parse_manifest(std::string_view body, const Place& place, const std::string& source) {
  const JsonValue document = parse_json(body, source, manifest_limits);
  JsonObject manifest(document, source, "a manifest");
  if (manifest.try_array("manifests") != nullptr) {
    throw Error(FailureKind::unavailable, fmt::format("{} is an index of several manifests", source),
                "name one of them by its digest: oci://HOST/NAME@sha256:DIGEST");
  }
  const JsonValue::Array* layers = manifest.try_array("layers");
  if (layers == nullptr) manifest.fail("layers", "is missing");
  std::vector<ListedFile> files;
  for (const JsonValue& value : *layers) {
    JsonObject layer(value, source, "a layer");
    const std::string hex = sha256_in(layer.text("digest"), layer);
    std::string name = "sha256-" + hex;
    if (auto annotations = layer.try_object("annotations", "annotations"))
      name = annotations->try_text(title_key).value_or(name);
    auto path = RelativePath::try_parse(name);
    if (!path) layer.fail("annotations", fmt::format("no file may be called \"{}\"", printable(name)));
    Url url = Url::parse(fmt::format("oci://{}/{}@sha256:{}", place.registry, place.repository, hex));
    files.push_back(
        {std::move(*path), {std::move(url)}, layer.try_uint("size"), {.md5 = {}, .sha1 = {}, .sha256 = hex}});
  }
  return files;
}

std::optional<Challenge> try_parse_challenge(std::string_view header) {
  header = trim(header);
  if (to_lower(header.substr(0, 7)) != "bearer ") return std::nullopt;
  header.remove_prefix(7);
  Challenge challenge;
  while (!(header = trim(header)).empty()) {
    const std::size_t equals = header.find('=');
    if (equals == header.npos) break;
    const std::string name = to_lower(trim(header.substr(0, equals)));
    header.remove_prefix(equals + 1);
    const bool quoted = header.starts_with('"');
    if (quoted) header.remove_prefix(1);
    const std::size_t end = std::min(header.find(quoted ? '"' : ','), header.size());
    if (name == "realm") challenge.realm = header.substr(0, end);
    if (name == "service") challenge.service = header.substr(0, end);
    header.remove_prefix(end);
    const std::size_t comma = header.find(',');
    header.remove_prefix(comma == header.npos ? header.size() : comma + 1);
  }
  return challenge.realm.empty() ? std::nullopt : std::optional(challenge);
}

Url token_url(const Challenge& challenge, const Place& place) {
  const auto realm = Url::try_parse(challenge.realm);
  const bool secure =
      realm && (realm->scheme() == "https" || (realm->scheme() == "http" && place.origin.starts_with("http:")));
  if (!secure) {
    throw Error(FailureKind::access, fmt::format("{} sends to {} for a token, which is no https URL", place.registry,
                                                 printable_url(challenge.realm)));
  }
  const std::string mark = realm->query().empty() ? "?" : "&";
  const std::string service =
      challenge.service.empty() ? "" : fmt::format("service={}&", percent_encode(challenge.service));
  return Url::parse(fmt::format("{}{}{}scope={}", challenge.realm, mark, service,
                                percent_encode(fmt::format("repository:{}:pull", place.repository))));
}

Token parse_token(std::string_view body, const std::string& source) {
  const JsonValue document = parse_json(body, source, {1UL << 20, 8, 1000});
  JsonObject object(document, source, "a token");
  Token token{.text = object.try_text("token").value_or(""), .lifetime = std::chrono::seconds(60)};
  if (token.text.empty()) token.text = object.try_text("access_token").value_or("");
  const bool plain = std::all_of(token.text.begin(), token.text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (token.text.empty() || !plain || token.text.size() > 16'384) object.fail("token", "is none");
  token.lifetime =
      std::chrono::seconds(std::clamp<std::uint64_t>(object.try_uint("expires_in").value_or(60), 1, 24 * 3600));
  return token;
}

}  // namespace sabath::oci
