#include "fetch/hosts/source_key.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

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

std::string name_of(const Url& url, const SourceNames& names) { return names ? names(url) : url.text(); }

// A checksum proves the bytes, and any mirror may have given them. Of a list it proves the list alone, of an archive
// nothing of a part.
bool is_proven(const Fragment& fragment, const Selection& selection) {
  const bool whole = fragment.type == FragmentType::file || selection.empty();
  return !fragment.checksum.empty() && fragment.type != FragmentType::file_list && whole;
}

Json facts_of(const Fragment& fragment) {
  return {{"type", static_cast<int>(fragment.type)},
          {"limit", or_null(fragment.limit)},
          {"size", or_null(fragment.size_bytes)},
          {"checksum", to_json(fragment.checksum)},
          {"path", fragment.path ? Json(fragment.path->text()) : Json(nullptr)}};
}

// As SABATH 0.1 named it: by the first URL as it is written.
Json by_first_url(const Fragment& fragment) {
  Json json = facts_of(fragment);
  json["url"] = fragment.urls.empty() ? "" : fragment.urls.front().text();
  return json;
}

// The settings also decide what a listed URL means, and the list must be read before its URLs are known.
void add_settings(Json& key, const Fragment& fragment, const SourceNames& names) {
  const bool names_others = fragment.type == FragmentType::file_list;
  if (names_others && !names.settings().empty()) key["settings"] = names.settings();
}

// By all its sources as this user asks them: each of them may have given what is learnt. Of one source, too, the name
// is another than that of 0.1, under which another recipe's mirror may have put what it gave.
Json to_json(const Fragment& fragment, const SourceNames& names, const Selection& selection) {
  if (is_proven(fragment, selection) || fragment.urls.empty()) return by_first_url(fragment);
  Json json = facts_of(fragment);
  for (const auto& url : fragment.urls) json["sources"].push_back(name_of(url, names));
  add_settings(json, fragment, names);
  return json;
}

Json to_json(const GitSource& git, const SourceNames& names) {
  const auto url = Url::try_parse(git.origin);
  return {{"origin", url ? name_of(*url, names) : git.origin},
          {"branch", git.branch},
          {"tag", git.tag},
          {"commit", git.commit}};
}

Json to_json(const Selection& selection) {
  return {{"sample", or_null(selection.sample)}, {"select", selection.select}};
}

std::string quoted(const std::string& text) { return text.empty() ? "\"\"" : Json(text).dump(); }

Sha256 asset_key(const Json& parts, const Selection& selection, const std::optional<Sha256>& pin) {
  if (selection.empty()) return sha256("asset\n" + parts.dump());
  const Json part = {{"of", parts}, {"selection", to_json(selection)}, {"pin", pin ? Json(pin->hex()) : Json(nullptr)}};
  return sha256("part of asset\n" + part.dump());
}

Sha256 fragment_key(Json key, const Fragment& fragment, const Selection& selection) {
  // A single file is whole or not there at all: what is learnt of it is the same.
  if (!selection.empty() && fragment.type != FragmentType::file) key["selection"] = to_json(selection);
  return sha256("fragment\n" + key.dump());
}

// What has no source is had by hand: its name alone says what it is. All of them would have one key otherwise.
Json by_name(const Recipe& recipe) {
  return Json::array({{{"by hand", recipe.name}, {"kind", static_cast<int>(recipe.kind)}}});
}

Json parts_by_first_url(const Recipe& recipe) {
  Json parts = Json::array();
  for (const auto& fragment : recipe.fragments) parts.push_back(by_first_url(fragment));
  if (recipe.git) parts.push_back(to_json(*recipe.git, {}));
  return parts.empty() ? by_name(recipe) : parts;
}

Json parts_of(const Recipe& recipe, const SourceNames& names, const Selection& selection) {
  Json parts = Json::array();
  for (const auto& fragment : recipe.fragments) parts.push_back(to_json(fragment, names, selection));
  if (recipe.git) parts.push_back(to_json(*recipe.git, names));
  return parts.empty() ? by_name(recipe) : parts;
}

std::string offset_of(const FileJob& job) {
  return job.offset > 0 || !job.version.empty() ? fmt::format(R"("offset":{},)", job.offset) : "";
}

std::string version_of(const FileJob& job) {
  if (job.offset == 0 && job.version.empty()) return "";
  return fmt::format(R"(,"version":[{},{}])", quoted(job.version.etag), quoted(job.version.last_modified));
}

const std::string& name_of(const FileJob& job, std::size_t mirror) {
  return job.names.empty() ? job.urls[mirror].text() : job.names[mirror];
}

std::string sources_of(const FileJob& job) {
  std::string sources;
  for (std::size_t i = 0; i < job.urls.size(); ++i) sources += (i > 0 ? "," : "") + quoted(name_of(job, i));
  return fmt::format(R"("sources":[{}])", sources);
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
                                      newer("sha512", sums.sha512)) +
                          newer("git", sums.git);
  const std::string size = job.size_bytes ? fmt::format("{}", *job.size_bytes) : "null";
  const bool proven = !sums.empty() || job.urls.empty();
  const auto url = [&] { return "\"url\":" + quoted(job.source ? job.source->text() : name_of(job, 0)); };
  return sha256(fmt::format("file\n{{\"checksum\":{{{}}},{}\"size\":{},{}{}}}",
                            std::string_view(sum).substr(0, sum.size() - 1), offset_of(job), size,
                            proven ? url() : sources_of(job), version_of(job)));
}

Sha256 given_key(const FileJob& job, std::size_t mirror) {
  return sha256(fmt::format(R"(file
{{"checksum":{{"md5":"","sha1":"","sha256":""}},{}"size":null,"sources":[{}]{}}})",
                            offset_of(job), quoted(name_of(job, mirror)), version_of(job)));
}

std::optional<std::size_t> giver_of(const FileJob& job, const SourceVersion& version) {
  if (version.source.empty()) return job.urls.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  for (std::size_t i = 0; i < job.urls.size(); ++i) {
    if (given_key(job, i).hex() == version.source) return i;
  }
  return std::nullopt;
}

Sha256 source_key(const Fragment& fragment, const SourceNames& names, const Selection& selection) {
  return fragment_key(to_json(fragment, names, selection), fragment, selection);
}

Sha256 given_key(const Fragment& fragment, std::size_t mirror, const SourceNames& names, const Selection& selection) {
  Json key = facts_of(fragment);
  key["size"] = nullptr;
  key["checksum"] = to_json(Checksums{});
  key["sources"] = {name_of(fragment.urls[mirror], names)};
  // A file that a list names without a host stands beside the first mirror of the list.
  if (mirror > 0 && fragment.type == FragmentType::file_list) key["beside"] = name_of(fragment.urls.front(), names);
  add_settings(key, fragment, names);
  return fragment_key(std::move(key), fragment, selection);
}

Sha256 tar_index_key(const Url& source, const SourceNames& names) {
  return sha256("tar index\n" + name_of(source, names));
}

Sha256 source_key(const GitSource& git) { return sha256("git\n" + to_json(git, {}).dump()); }

Sha256 source_key(const Recipe& recipe, const SourceNames& names, const Selection& selection,
                  const std::optional<Sha256>& pin) {
  return asset_key(pin ? parts_by_first_url(recipe) : parts_of(recipe, names, selection), selection, pin);
}

Sha256 earlier_key(const Recipe& recipe, const Selection& selection) {
  return asset_key(parts_by_first_url(recipe), selection, std::nullopt);
}

Sha256 said_key(const Recipe& recipe, const Selection& selection) {
  const Json parts = parts_of(recipe, {}, {});
  if (selection.empty()) return sha256("said asset\n" + parts.dump());
  return sha256("said part of asset\n" + Json{{"of", parts}, {"selection", to_json(selection)}}.dump());
}

Sha256 pinned_key(const Recipe& recipe, const Sha256& root) {
  return sha256("pinned asset\n" + parts_by_first_url(recipe).dump() + "\n" + root.hex());
}

Sha256 parts_key(const Recipe& recipe) { return sha256("parts of asset\n" + parts_by_first_url(recipe).dump()); }

Sha256 parts_key(const Fragment& fragment) { return sha256("parts of fragment\n" + by_first_url(fragment).dump()); }

Sha256 part_key(const Sha256& parts, const Sha256& root) { return sha256("part\n" + parts.hex() + "\n" + root.hex()); }

void note_part(Store& store, const Recipe& recipe, const Ref& ref) {
  const Sha256 key = part_key(parts_key(recipe), ref.root);
  if (!store.has_ref(key)) store.put_ref(key, ref);
}

Sha256 bundle_key(const Sha256& root) { return sha256("bundle\n" + root.hex()); }

std::string proof_of(const Fragment& fragment) {
  std::string proof;
  for (const auto& algorithm : checksum_algorithms) {
    const std::string& hex = fragment.checksum.*algorithm.value;
    if (!hex.empty()) proof += fmt::format("{}{}:{}", proof.empty() ? "" : " ", algorithm.name, hex);
  }
  return proof;
}

// Of many fragments a hash, as a ref is a small file.
std::string proof_of(const Recipe& recipe) {
  if (recipe.fragments.size() == 1) return proof_of(recipe.fragments.front());
  std::string all;
  bool any = false;
  for (const auto& fragment : recipe.fragments) {
    const std::string proof = proof_of(fragment);
    any |= !proof.empty();
    all += proof + "\n";
  }
  return any ? fmt::format("all: {}", sha256(all).prefixed()) : "";
}

namespace {

// A recipe may state the checksums of many fragments: they are put together only for a ref that says it proved them.
template <class Stating>
bool fits_what_states(const Ref& ref, const Stating& stating) {
  if (ref.trusted_by != "checksum" || ref.proved == proved_by_name) return true;
  const std::string proof = proof_of(stating);
  return proof.empty() || ref.proved == proof;
}

}  // namespace

bool fits(const Ref& ref, const Fragment& fragment) { return fits_what_states(ref, fragment); }
bool fits(const Ref& ref, const Recipe& recipe) { return fits_what_states(ref, recipe); }

std::optional<Learnt> learnt_of(const Store& store, const Recipe& recipe, const Selection& selection) {
  const Sha256 key = source_key(recipe, store.source_names(), selection), earlier = earlier_key(recipe, selection);
  const auto find = [&](const Sha256& name) {
    auto ref = store.ref(name);
    return ref && fits(*ref, recipe) ? std::move(ref) : std::nullopt;
  };
  if (auto ref = find(key)) return Learnt{std::move(*ref), {}};
  if (key == earlier) return std::nullopt;
  const auto doubt = [](Ref ref, const char* why) {
    const bool proven = !ref.trusted_by.starts_with("first use");
    return Learnt{std::move(ref), proven ? "" : why};
  };
  if (auto ref = find(said_key(recipe, selection))) return doubt(std::move(*ref), "it was learnt by other settings");
  if (auto ref = find(earlier))
    return doubt(std::move(*ref), "an earlier SABATH did not note which of its sources gave it");
  return std::nullopt;
}

void learn(Store& store, const Recipe& recipe, const Ref& ref, const Selection& selection) {
  const Sha256 key = source_key(recipe, store.source_names(), selection);
  Ref own = ref;
  if (ref.trusted_by == "checksum") own.proved = proof_of(recipe);
  store.put_ref(key, own);
  if (key != source_key(recipe, {}, selection)) store.put_ref(said_key(recipe, selection), own);
}

std::string text_of_doubt(const std::string& name, const Learnt& learnt) {
  return fmt::format("{} ({}): {}; online its sources are asked again", name, learnt.ref.trusted_by, learnt.doubt);
}

std::string source_of(const Recipe& recipe) {
  if (recipe.git) return recipe.git->origin;
  return recipe.fragments.empty() ? "" : recipe.fragments.front().urls.front().display();
}

}  // namespace sabath
