#include "lfs/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/json_reader.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::lfs {
namespace {

constexpr std::string_view prefix = "lfs+";
constexpr std::size_t headers_max = 32;

bool is_oid(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// Headers that decide how the transfer goes are ours, and no value may carry a second header.
bool may_send(const std::string& name, const std::string& value) {
  const std::string lower = to_lower(name);
  const bool token = !name.empty() && std::all_of(lower.begin(), lower.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  const bool plain = std::all_of(value.begin(), value.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  return token && plain && value.size() <= 16'384 && lower != "host" && lower != "range" && lower != "connection" &&
         lower != "content-length" && lower != "transfer-encoding" && lower != "accept-encoding";
}

std::vector<std::string> headers_of(JsonObject& download) {
  std::vector<std::string> headers;
  auto object = download.try_object("header", "\"header\"");
  if (!object) return headers;
  for (const JsonMember& member : object->members()) {
    const auto* value = member.value.get<std::string>();
    if (value == nullptr || headers.size() >= headers_max || !may_send(member.key, *value))
      download.fail("header", fmt::format("\"{}\" cannot be sent", printable(member.key)));
    headers.push_back(member.key + ": " + *value);
  }
  return headers;
}

[[noreturn]] void refuse_object(JsonObject& error, const Object& object) {
  const std::uint64_t code = error.try_uint("code").value_or(0);
  const JsonValue* said = error.find("message");
  const std::string* words = said == nullptr ? nullptr : said->get<std::string>();
  const std::string message = words == nullptr ? "" : printable(*words);
  const FailureKind kind = code == 401 || code == 403   ? FailureKind::access
                           : code == 429 || code >= 500 ? FailureKind::network
                                                        : FailureKind::unavailable;
  if (kind != FailureKind::unavailable) {
    throw Error(
        kind, fmt::format("{} does not give LFS object {}: {} {}", object.server.display(), object.oid, code, message),
        kind == FailureKind::access ? "the repository wants a login, by ~/.netrc or `tokens` of the "
                                      "configuration, or does not let yours read"
                                    : "");
  }
  throw Error(kind, fmt::format("{} has no LFS object {}: {} {}", object.server.display(), object.oid, code, message),
              "the repository's owner has not pushed it, or its LFS quota is used up");
}

}  // namespace

Url Object::batch_url() const { return Url::parse(server.text() + "/objects/batch").named_by(server.namer()); }

std::string Object::question() const {
  return fmt::format(
      R"({{"operation":"download","transfers":["basic"],"objects":[{{"oid":"{}","size":{}}}],"hash_algo":"sha256"}})",
      oid, size_bytes);
}

Object parse_object(const Url& url) {
  const auto refuse = [&] {
    throw Error(FailureKind::unavailable, fmt::format("{} names no LFS object", url.display()),
                "write lfs+https://host/repo.git/info/lfs/OID?size=BYTES, as a pointer file says them");
  };
  const std::string& text = url.text();
  const std::size_t query = std::min(text.find_first_of("?#"), text.size());
  const std::size_t slash = text.rfind('/', query);
  if (!text.starts_with(prefix) || slash == text.npos || slash < prefix.size() + 8) refuse();
  Object object{.server = Url::parse(text.substr(prefix.size(), slash - prefix.size())).named_by(url.namer()),
                .oid = text.substr(slash + 1, query - slash - 1),
                .size_bytes = 0};
  const std::string size = url.query().starts_with("size=") ? url.query().substr(5) : "";
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), object.size_bytes);
  if (!is_oid(object.oid) || size.empty() || error != std::errc() || end != size.data() + size.size()) refuse();
  return object;
}

Action parse_batch(std::string_view body, const Object& object) {
  const std::string source = object.batch_url().display();
  const JsonValue document = parse_json(body, source, {1UL << 20, 16, 10'000});
  JsonObject answer(document, source, "an answer");
  const JsonValue::Array* objects = answer.try_array("objects");
  if (objects == nullptr || objects->size() != 1) answer.fail("objects", "must hold the one that was asked for");
  JsonObject one(objects->front(), source, "an object");
  if (one.text("oid") != object.oid) one.fail("oid", "is not the one that was asked for");
  if (auto error = one.try_object("error", "\"error\"")) refuse_object(*error, object);
  auto actions = one.try_object("actions", "\"actions\"");
  auto download = actions ? actions->try_object("download", "\"download\"") : std::nullopt;
  if (!download) one.fail("actions", "name no download");
  const auto href = Url::try_parse(download->text("href"));
  const bool secure = href && (href->scheme() == "https" || href->scheme() == object.server.scheme());
  if (!secure) download->fail("href", "is no URL that may be followed from here");
  Action action{.href = *href, .headers = headers_of(*download)};
  const auto lifetime = download->try_uint("expires_in");
  if (lifetime) action.lifetime = std::chrono::seconds(std::min<std::uint64_t>(*lifetime, 3600) * 8 / 10);
  return action;
}

}  // namespace sabath::lfs
