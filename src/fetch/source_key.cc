#include "fetch/source_key.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace sabath {
namespace {

using Json = nlohmann::json;  // objects sort their keys, so dump() is canonical

// Those that stores of 0.1 knew always stand there, and others only where they are published: the old keys still hold.
Json to_json(const Checksums& sums) {
  Json object;
  for (const auto& algorithm : checksum_algorithms)
    if (algorithm.finds || !(sums.*algorithm.value).empty())
      object[std::string(algorithm.name)] = sums.*algorithm.value;
  return object;
}

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

Json to_json(const Selection& selection) {
  return {{"sample", or_null(selection.sample)}, {"select", selection.select}};
}

std::string quoted(const std::string& text) { return text.empty() ? "\"\"" : Json(text).dump(); }

Json parts_of(const Recipe& recipe) {
  Json parts = Json::array();
  for (const auto& fragment : recipe.fragments) parts.push_back(to_json(fragment));
  if (recipe.git) parts.push_back(to_json(*recipe.git));
  return parts;
}

}  // namespace

// The same text as by a tree and dump(), in less time: lists have thousands of files, and each is looked up by its key.
Sha256 source_key(const FileJob& job) {
  const Checksums& sums = job.checksum;
  const auto newer = [](const char* name, const std::string& hex) {
    return hex.empty() ? std::string() : fmt::format(R"("{}":"{}",)", name, hex);
  };
  const std::string sum = fmt::format(R"("md5":{},"sha1":{},{}"sha256":{},{}{})", quoted(sums.md5), quoted(sums.sha1),
                                      newer("sha224", sums.sha224), quoted(sums.sha256), newer("sha384", sums.sha384),
                                      newer("sha512", sums.sha512));
  const bool part = job.offset > 0 || !job.version.empty();
  const std::string offset = part ? fmt::format(R"("offset":{},)", job.offset) : "";
  const std::string version =
      part ? fmt::format(R"(,"version":[{},{}])", quoted(job.version.etag), quoted(job.version.last_modified)) : "";
  const std::string size = job.size_bytes ? fmt::format("{}", *job.size_bytes) : "null";
  const Url& url = job.source ? *job.source : job.urls.front();
  return sha256(fmt::format("file\n{{\"checksum\":{{{}}},{}\"size\":{},\"url\":{}{}}}",
                            std::string_view(sum).substr(0, sum.size() - 1), offset, size, quoted(url.text()),
                            version));
}

Sha256 source_key(const Fragment& fragment, const Selection& selection) {
  Json key = to_json(fragment);
  // A single file is whole or not there at all: what is learnt of it is the same.
  if (!selection.empty() && fragment.type != FragmentType::file) key["selection"] = to_json(selection);
  return sha256("fragment\n" + key.dump());
}

Sha256 tar_index_key(const Url& source) { return sha256("tar index\n" + source.text()); }

Sha256 source_key(const GitSource& git) { return sha256("git\n" + to_json(git).dump()); }

Sha256 source_key(const Recipe& recipe, const Selection& selection, const std::optional<Sha256>& pin) {
  const Json parts = parts_of(recipe);
  if (selection.empty()) return sha256("asset\n" + parts.dump());
  const Json part = {{"of", parts}, {"selection", to_json(selection)}, {"pin", pin ? Json(pin->hex()) : Json(nullptr)}};
  return sha256("part of asset\n" + part.dump());
}

Sha256 pinned_key(const Recipe& recipe, const Sha256& root) {
  return sha256("pinned asset\n" + parts_of(recipe).dump() + "\n" + root.hex());
}

Sha256 bundle_key(const Sha256& root) { return sha256("bundle\n" + root.hex()); }

std::string source_of(const Recipe& recipe) {
  if (recipe.git) return recipe.git->origin;
  return recipe.fragments.empty() ? "" : recipe.fragments.front().urls.front().display();
}

}  // namespace sabath
