// Artifacts in registries by oci://: listed by their manifests, read by digest, with the login that podman or docker
// keep for the registry, if there is one.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/text.h"
#include "http/document.h"
#include "http/read.h"
#include "oci/logins.h"
#include "oci/registry.h"
#include "sabath/error.h"
#include "sabath/resolver.h"
#include "sabath/secret.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr const char* manifest_types =
    "Accept: application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.oci.image.index.v1+json";

class OciFetcher : public Fetcher, public Resolver {
 public:
  OciFetcher(RegistrySettings settings, std::shared_ptr<Transport> transport)
      : settings_(std::move(settings)), transport_(std::move(transport)) {}

  std::vector<Scheme> schemes() const override { return {{.name = "oci", .built = true, .ranges = true}}; }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const oci::Place place = oci::place_of(request.url);
    if (place.sha256.empty()) {
      throw Error(FailureKind::unavailable,
                  fmt::format("{} is no single file: its digest is not named", request.url.display()),
                  "type \"file_list\" takes the files of a tag");
    }
    const WebPlace content{.url = place.blob_url(),
                           .private_headers = named(request.url, [&] { return login(place, traffic, stop); }),
                           .access_hint = oci::how_to_log_in(place)};
    read_web(*transport_, content, request, sink, traffic, stop);
  }

  bool lists(const Url&) const override { return true; }

  Listing resolve(const Url& url, Inquiry& inquiry) override {
    const oci::Place place = oci::place_of(url);
    const Url manifest = place.manifest_url();
    std::optional<Document> document;
    inquiry.attempt(manifest, [&](Traffic& traffic) {
      const Question question{.url = manifest,
                              .headers = {manifest_types},
                              .private_headers = login(place, traffic, inquiry.stop()),
                              .size_max = 4UL << 20,
                              .accept = {200},
                              .access_hint = oci::how_to_log_in(place)};
      document = ask(*transport_, question, traffic, inquiry.stop());
    });
    const std::string hex = sha256(document->body).hex();
    if (!place.sha256.empty() && hex != place.sha256) {
      throw Error(FailureKind::content,
                  fmt::format("{} gave a manifest with another digest, sha256:{}", url.display(), hex),
                  "the registry lies, or a proxy on the way does");
    }
    Listing listing;
    listing.version = "sha256:" + hex;
    listing.over_tls = document->url.scheme() == "https";
    listing.files = oci::parse_manifest(document->body, place, url.display());
    return listing;
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Login {
    Secret header;  // empty: none is needed
    Clock::time_point until;
  };

  // The header that says who we are, where the registry wants one. Two lanes may ask for one token: no harm.
  std::vector<std::string> login(const oci::Place& place, Traffic& traffic, const std::stop_token& stop) {
    const std::string key = place.origin + "/" + place.repository;
    std::optional<Login> known;
    {
      const std::lock_guard lock(mutex_);
      const auto found = logins_.find(key);
      if (found != logins_.end() && Clock::now() < found->second.until) known = found->second;
    }
    if (!known) {
      known = log_in(place, traffic, stop);
      const std::lock_guard lock(mutex_);
      if (logins_.size() > logins_max) logins_.clear();
      logins_[key] = *known;
    }
    if (known->header.empty()) return {};
    return {std::string(known->header.reveal())};
  }

  Login log_in(const oci::Place& place, Traffic& traffic, const std::stop_token& stop) {
    const Question front{.url = place.front_url(), .size_max = 1UL << 20, .accept = {200, 401}};
    const Document answer = ask(*transport_, front, traffic, stop);
    if (answer.status == 200) return {Secret(), Clock::now() + std::chrono::hours(1)};
    const auto basic = oci::try_find_login(settings_, place);
    const std::string header = basic ? fmt::format("Authorization: Basic {}", basic->reveal()) : "";
    const auto challenge = oci::try_parse_challenge(answer.authenticate);
    if (basic && to_lower(answer.authenticate).starts_with("basic")) {
      return {Secret(header), Clock::now() + std::chrono::hours(1)};
    }
    if (!challenge) {
      throw Error(FailureKind::access, fmt::format("{} wants a login that SABATH does not have for it", place.registry),
                  oci::how_to_log_in(place));
    }
    Question question{.url = answer.names(oci::token_url(*challenge, place)),
                      .size_max = 1UL << 20,
                      .accept = {200},
                      .access_hint = oci::how_to_log_in(place)};
    if (basic) question.private_headers = {header};  // where a token is given, the registry says
    oci::Token token = oci::parse_token(ask(*transport_, question, traffic, stop).body, question.url.display());
    return {Secret("Authorization: Bearer " + token.text), Clock::now() + token.lifetime * 8 / 10};
  }

  static constexpr std::size_t logins_max = 1000;
  const RegistrySettings settings_;
  const std::shared_ptr<Transport> transport_;
  std::mutex mutex_;
  std::map<std::string, Login> logins_;
};

}  // namespace

void add_oci(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<OciFetcher>(parts.settings.registries, parts.transport));
}

}  // namespace sabath
