#include "s3/place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/query.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::s3 {
namespace {

constexpr const char* usual_region = "us-east-1";

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

Url endpoint_of(const Profile& profile, const std::string& region) {
  if (profile.endpoint_url.empty()) return Url::parse(fmt::format("https://s3.{}.amazonaws.com", region));
  const auto url = Url::try_parse(profile.endpoint_url);
  const bool plain =
      url && (url->scheme() == "http" || url->scheme() == "https") && !url->host().empty() && url->query().empty();
  if (!plain) {
    throw Error(FailureKind::usage, fmt::format("the S3 endpoint cannot be '{}'", printable(profile.endpoint_url)),
                "write https://host or http://host:port; see s3_endpoint, AWS_ENDPOINT_URL and the profile");
  }
  return *url;
}

// A name of one label fits below a wildcard certificate; others, and other endpoints, are asked by path.
bool by_host(const std::string& bucket, const Profile& profile) {
  const std::string style = to_lower(profile.addressing);
  if (style == "path") return false;
  if (style == "virtual") return true;
  if (!style.empty() && style != "auto") {
    throw Error(FailureKind::usage, fmt::format("the S3 addressing cannot be '{}'", printable(style)),
                "write path, virtual or auto");
  }
  return is_amazon(profile) && is_label(bucket);
}

// What may follow a key.
struct UrlWords {
  std::string version, endpoint, scheme = "https", region, addressing;
  bool anonymous = false;
};

[[noreturn]] void refuse_url(const Url& url, const std::string& why, const char* hint) {
  throw Error(FailureKind::unavailable, fmt::format("cannot read {}: {}", url.display(), why), hint);
}

bool flag_of(const Url& url, const std::string& name, const std::string& value) {
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  refuse_url(url, fmt::format("{} cannot be '{}'", name, printable(value)), "write true or false");
}

UrlWords words_of(const Url& url) {
  UrlWords words;
  std::string_view rest = url.query();
  while (const auto one = next_parameter(rest)) {
    const std::string name = percent_decode(one->name);
    std::string value = percent_decode(one->value.value_or(""));
    if (name == "versionId") {
      words.version = std::move(value);
    } else if (name == "endpoint_override") {
      words.endpoint = std::move(value);
    } else if (name == "scheme" && (value == "https" || value == "http")) {
      words.scheme = std::move(value);
    } else if (name == "region" && is_label(value)) {
      words.region = std::move(value);
    } else if (name == "force_virtual_addressing") {
      words.addressing = flag_of(url, name, value) ? "virtual" : "path";
    } else if (name == "anonymous") {
      words.anonymous = flag_of(url, name, value);
    } else {
      refuse_url(
          url, "its query is not understood",
          "versionId, endpoint_override, scheme, region, force_virtual_addressing and anonymous may follow the key");
    }
  }
  return words;
}

}  // namespace

Profile profile_of(const Url& url, const Profile& own) {
  if (url.query().empty()) return own;
  const UrlWords words = words_of(url);
  Profile profile = own;
  if (!words.region.empty()) profile.region = words.region;
  if (!words.addressing.empty()) profile.addressing = words.addressing;
  if (!words.endpoint.empty()) {
    const auto named = Url::try_parse(words.scheme + "://" + words.endpoint);
    if (!named || named->path().size() > 1 || !named->query().empty())
      refuse_url(url, fmt::format("its endpoint cannot be '{}'", printable(words.endpoint)), "write HOST or HOST:PORT");
    const auto mine = Url::try_parse(own.endpoint_url);
    profile.endpoint_url = named->origin();
    if (!mine || mine->origin() != named->origin()) {
      profile.endpoint_namer = url.namer();
      profile.keys = {};
      profile.elsewhere.clear();
      if (words.region.empty()) profile.region.clear();
      if (words.addressing.empty()) profile.addressing.clear();
    }
  }
  if (words.anonymous) {
    profile.keys = {};
    profile.elsewhere.clear();
  }
  return profile;
}

Url Place::url() const {
  std::string text = origin + uri_encode(path, true);
  if (!query.empty()) text += '?' + canonical_query(query);
  return Url::parse(text);
}

bool is_region(std::string_view text) { return is_label(text); }

bool is_amazon(const Profile& profile) {
  if (profile.endpoint_url.empty()) return true;
  const auto url = Url::try_parse(profile.endpoint_url);
  return url && (url->host().ends_with(".amazonaws.com") || url->host().ends_with(".amazonaws.com.cn"));
}

Place place_of_bucket(const std::string& bucket, const Profile& profile, const std::string& learnt) {
  const std::string region = !learnt.empty() ? learnt : profile.region.empty() ? usual_region : profile.region;
  if (!is_region(region)) {
    throw Error(FailureKind::usage, fmt::format("the S3 region cannot be '{}'", printable(region)),
                "see s3_region, AWS_REGION and the profile");
  }
  const Url endpoint = endpoint_of(profile, region);
  const bool virtual_host = by_host(bucket, profile);
  const std::string host = virtual_host ? bucket + '.' + endpoint.host() : endpoint.host();
  const std::uint16_t usual_port = endpoint.scheme() == "https" ? 443 : 80;
  const bool has_port = endpoint.port() && *endpoint.port() != usual_port;
  Place place;
  place.host = has_port ? fmt::format("{}:{}", host, *endpoint.port()) : host;
  place.origin = endpoint.scheme() + "://" + place.host;
  std::string base = percent_decode(endpoint.path());
  while (base.ends_with('/')) base.pop_back();
  place.path = virtual_host ? base + '/' : base + '/' + bucket;
  place.region = region;
  return place;
}

Place place_of(const Url& url, const Profile& profile, const std::string& region) {
  if (url.host().empty() || url.port() || url.host().starts_with('[')) {
    refuse_url(url, "no bucket is named", "write s3://bucket/key; the endpoint is a setting: s3_endpoint");
  }
  if (url.path().size() < 2) refuse_url(url, "no object is named", "write s3://bucket/key");
  Place place = place_of_bucket(url.host(), profile, region);
  const std::string key = percent_decode(url.path()).substr(1);
  place.path += place.path.ends_with('/') ? key : '/' + key;
  if (std::string version = words_of(url).version; !version.empty())
    place.query.emplace_back("versionId", std::move(version));
  return place;
}

}  // namespace sabath::s3
