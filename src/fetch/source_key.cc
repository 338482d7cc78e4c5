#include "fetch/source_key.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace sabath {
namespace {

using Json = nlohmann::json;  // objects sort their keys, so dump() is canonical

Json to_json(const Checksums& sums) { return {{"md5", sums.md5}, {"sha1", sums.sha1}, {"sha256", sums.sha256}}; }

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Fragment& fragment) {
  return {{"url", fragment.urls.empty() ? "" : fragment.urls.front().text()},
          {"type", static_cast<int>(fragment.type)},
          {"limit", or_null(fragment.limit)},
          {"size", or_null(fragment.size_bytes)},
          {"checksum", to_json(fragment.checksum)},
          {"path", fragment.path ? Json(fragment.path->text()) : Json(nullptr)}};
}

Json to_json(const GitSource& git) {
  return {{"origin", git.origin}, {"branch", git.branch}, {"tag", git.tag}, {"commit", git.commit}};
}

}  // namespace

Sha256 source_key(const FileJob& job) {
  const Json key = {{"url", job.source.value_or(job.urls.front()).text()},
                    {"size", or_null(job.size_bytes)},
                    {"checksum", to_json(job.checksum)}};
  return sha256("file\n" + key.dump());
}

Sha256 source_key(const Fragment& fragment) { return sha256("fragment\n" + to_json(fragment).dump()); }

Sha256 source_key(const GitSource& git) { return sha256("git\n" + to_json(git).dump()); }

Sha256 source_key(const Recipe& recipe) {
  Json parts = Json::array();
  for (const auto& fragment : recipe.fragments) parts.push_back(to_json(fragment));
  if (recipe.git) parts.push_back(to_json(*recipe.git));
  return sha256("asset\n" + parts.dump());
}

}  // namespace sabath
