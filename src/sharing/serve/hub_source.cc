#include "serve/hub_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/percent.h"
#include "base/wording.h"
#include "hub/revision.h"
#include "sabath/error.h"

namespace sabath {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t held_max = 32;          // manifests that stay open
constexpr std::uint64_t page_entries = 1000;  // of a tree, as the hub has it
constexpr std::uint64_t siblings_max = 1'000'000;

HubAnswer refusal(const char* code, const std::string& why) {
  HubAnswer answer{.status = 404, .body = Json{{"error", why}}.dump() + "\n", .content = {}, .fields = {}};
  answer.fields = {{"X-Error-Code", code}, {"X-Error-Message", why}};
  return answer;
}

std::string spelled(const HubTarget& target) {
  return target.kind == "models" ? target.repository : fmt::format("{}/{}", target.kind, target.repository);
}

std::string fetch_command(const HubTarget& target) {
  std::string command = fmt::format("{} hf://{}", verb_text("fetch"), spelled(target));
  if (target.revision != "main" && RelativePath::try_parse(target.revision) &&
      target.revision.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string::npos)
    command += "@" + target.revision;
  return command;
}

// The path in the asset of a repository's file; empty: it is outside of what the asset has.
std::string path_in_asset(const HubRevision& hub, std::string_view path) {
  if (!hub.top.empty()) {
    if (!path.starts_with(hub.top + "/")) return "";
    path.remove_prefix(hub.top.size() + 1);
  }
  return hub.below.empty() ? std::string(path) : fmt::format("{}/{}", hub.below, path);
}

std::string etag_of(const std::string& name) { return "\"" + name + "\""; }

}  // namespace

struct HubSource::Held {
  explicit Held(Manifest its) : manifest(std::move(its)), checksums(manifest.checksums()) {}
  const Manifest manifest;
  const std::map<std::string, Checksums> checksums;
};

HubSource::HubSource(Store& store, const std::vector<std::string>& allowed)
    : store_(store), names_(store), holdings_(store) {
  for (const std::string& repository : allowed) allowed_.push_back(sabath::spelled(parse_hub_repository(repository)));
}

bool HubSource::served(const HubAsset& asset) const {
  return asset.hub.open || std::ranges::find(allowed_, sabath::spelled(asset.hub)) != allowed_.end();
}

std::size_t HubSource::repositories() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> names;
  for (const HubAsset& asset : holdings_.all())
    if (served(asset)) names.insert(sabath::spelled(asset.hub));
  return names.size();
}

std::vector<HubAsset> HubSource::assets_of(const HubTarget& target) {
  const std::lock_guard lock(mutex_);
  std::vector<HubAsset> assets;
  for (const HubAsset& asset : holdings_.all()) {
    const bool asked = asset.hub.kind == target.kind && asset.hub.repository == target.repository;
    if (asked && served(asset)) assets.push_back(asset);
  }
  return assets;
}

std::shared_ptr<const HubSource::Held> HubSource::held(const Sha256& root) {
  {
    const std::lock_guard lock(mutex_);
    for (auto it = held_.begin(); it != held_.end(); ++it) {
      if ((*it)->manifest.root() != root) continue;
      held_.splice(held_.begin(), held_, it);
      return held_.front();
    }
  }
  auto manifest = store_.manifest(root);
  if (!manifest) return nullptr;
  auto opened = std::make_shared<const Held>(std::move(*manifest));
  const std::lock_guard lock(mutex_);
  held_.push_front(opened);
  if (held_.size() > held_max) held_.pop_back();
  return opened;
}

HubAnswer HubSource::answer(const HubTarget& target, const HubQuery& query) {
  auto assets = assets_of(target);
  if (assets.empty()) {
    return refusal("RepoNotFound", fmt::format("{} is not served here: `{}` on the server brings it", spelled(target),
                                               fetch_command(target)));
  }
  const auto meant = std::ranges::find_if(assets, [&](const HubAsset& asset) {
    return asset.hub.commit == target.revision || asset.hub.revision == target.revision;
  });
  if (meant == assets.end()) {
    return refusal("RevisionNotFound", fmt::format("this revision of {} is not here: `{}` on the server brings it",
                                                   spelled(target), fetch_command(target)));
  }
  const std::string commit = meant->hub.commit;
  std::erase_if(assets, [&](const HubAsset& asset) { return asset.hub.commit != commit; });
  HubAnswer answer = target.what == HubTarget::What::content ? give(target, assets)
                     : target.what == HubTarget::What::info  ? describe(target, assets)
                                                             : list(target, assets, query);
  answer.lasting = target.revision == commit && answer.status == 200;
  return answer;
}

HubAnswer HubSource::give(const HubTarget& target, const std::vector<HubAsset>& assets) {
  const std::string& commit = assets.front().hub.commit;
  const bool whole = std::ranges::any_of(assets, [](const HubAsset& asset) { return asset.hub.whole; });
  for (const HubAsset& asset : assets) {
    const auto path = RelativePath::try_parse(path_in_asset(asset.hub, target.path));
    const auto tree = path ? held(asset.root) : nullptr;
    const auto entry = tree ? tree->manifest.find(*path) : std::nullopt;
    if (!entry || !entry->is_file()) continue;
    auto content = open_content(
        store_, {.kind = Target::Kind::object, .digest = entry->digest, .root = {}, .algorithm = {}, .hex = {}});
    if (!content) {
      return refusal("EntryNotFound", fmt::format("this file of {} is not here any more: `{}` on the server brings it",
                                                  spelled(target), fetch_command(target)));
    }
    const auto published = tree->checksums.find(path->text());
    const HubFile file =
        names_.of(asset.hub, *entry, published == tree->checksums.end() ? Checksums{} : published->second);
    content->etag = etag_of(file.etag());
    HubAnswer answer{.body = {}, .content = std::move(content), .fields = {{"X-Repo-Commit", commit}}};
    if (!file.sha256.empty()) {
      answer.fields.emplace_back("X-Linked-Size", fmt::format("{}", entry->digest.size_bytes));
      answer.fields.emplace_back("X-Linked-Etag", etag_of(file.sha256));
    }
    return answer;
  }
  HubAnswer answer =
      refusal("EntryNotFound", whole ? fmt::format("{} has no such file at {}", spelled(target), commit)
                                     : fmt::format("this file of {} is not here: `{}` on the server brings all of them",
                                                   spelled(target), fetch_command(target)));
  if (whole) answer.fields.emplace_back("X-Repo-Commit", commit);  // clients note the absence by it
  return answer;
}

namespace {

std::optional<HubAsset> whole_of(const std::vector<HubAsset>& assets) {
  const auto found = std::ranges::find_if(assets, [](const HubAsset& asset) { return asset.hub.whole; });
  return found == assets.end() ? std::nullopt : std::optional(*found);
}

// A part is not told as if it were all.
HubAnswer partial(const HubTarget& target) {
  return refusal("RevisionNotFound", fmt::format("only a part of {} is here: `{}` on the server brings all of it",
                                                 spelled(target), fetch_command(target)));
}

HubAnswer document(Json json, const std::string& commit) {
  return {.body = json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n",
          .content = {},
          .fields = {{"X-Repo-Commit", commit}}};
}

// Files and directories of a tree, as git names them.
class TreeListing {
 public:
  TreeListing(std::string top, bool recursive) : top_(std::move(top)), recursive_(recursive) {}

  void add(const std::vector<HubFile>& files) { add_tree(files, 0, files.size(), 0); }
  [[nodiscard]] const std::vector<Json>& entries() const { return entries_; }
  [[nodiscard]] bool seen() const { return seen_; }

 private:
  struct Child {
    std::string order;  // git sorts a directory as if a slash ended its name
    std::string text;   // "MODE NAME" NUL and 20 bytes
  };

  static std::string raw(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
  }

  // The files [begin, end) stand in one directory, whose name with its slash has `prefix` bytes. Its hash.
  std::string add_tree(const std::vector<HubFile>& files, std::size_t begin, std::size_t end, std::size_t prefix) {
    const std::string directory = files.empty() ? "" : files[begin].path.substr(0, prefix);
    const std::string plain = directory.substr(0, directory.empty() ? 0 : directory.size() - 1);
    const bool at_top = plain == top_;
    const bool below_top = top_.empty() || at_top || directory.starts_with(top_ + "/");
    seen_ |= at_top;
    const bool shown = at_top || (recursive_ && below_top);
    std::vector<Child> children;
    for (std::size_t i = begin; i < end;) {
      const std::size_t slash = files[i].path.find('/', prefix);
      if (slash == std::string::npos) {
        if (shown) add_file(files[i]);
        const std::string name = files[i].path.substr(prefix);
        children.push_back({name, "100644 " + name + '\0' + raw(files[i].blob_id)});
        ++i;
        continue;
      }
      const std::string below = files[i].path.substr(0, slash + 1);
      std::size_t last = i;
      while (last < end && files[last].path.starts_with(below)) ++last;
      const std::size_t place = entries_.size();
      if (shown) entries_.push_back({});
      const std::string oid = add_tree(files, i, last, slash + 1);
      const std::string path = below.substr(0, slash), name = path.substr(prefix);
      if (shown) entries_[place] = Json{{"type", "directory"}, {"oid", oid}, {"size", 0}, {"path", path}};
      children.push_back({name + "/", "40000 " + name + '\0' + raw(oid)});
      i = last;
    }
    std::ranges::sort(children, {}, &Child::order);
    std::string text;
    for (const Child& child : children) text += child.text;
    std::string all = fmt::format("tree {}", text.size()) + '\0' + text;
    StreamHash hash("sha1");
    hash.update(std::as_bytes(std::span(all)));
    return hash.finish_hex();
  }

  void add_file(const HubFile& file) {
    Json entry{{"type", "file"}, {"oid", file.blob_id}, {"size", file.entry.digest.size_bytes}, {"path", file.path}};
    if (!file.sha256.empty()) {
      entry["lfs"] = {{"oid", file.sha256},
                      {"size", file.entry.digest.size_bytes},
                      {"pointerSize", lfs_pointer_text(file.sha256, file.entry.digest.size_bytes).size()}};
    }
    entries_.push_back(std::move(entry));
  }

  const std::string top_;
  const bool recursive_;
  std::vector<Json> entries_;
  bool seen_ = false;
};

}  // namespace

HubAnswer HubSource::describe(const HubTarget& target, const std::vector<HubAsset>& assets) {
  const auto asset = whole_of(assets);
  const auto tree = asset ? held(asset->root) : nullptr;
  if (!tree) return partial(target);
  Json info{{"id", target.repository}, {"sha", asset->hub.commit}, {"tags", Json::array()}};
  if (tree->manifest.totals().files <= siblings_max) {
    Json siblings = Json::array();
    tree->manifest.for_each([&](const Entry& entry) {
      const std::string path = entry.is_file() ? path_in_hub(asset->hub, entry.path.text()) : "";
      if (!path.empty()) siblings.push_back({{"rfilename", path}});
    });
    info["siblings"] = std::move(siblings);
  }
  return document(std::move(info), asset->hub.commit);
}

HubAnswer HubSource::list(const HubTarget& target, const std::vector<HubAsset>& assets, const HubQuery& query) {
  const auto asset = whole_of(assets);
  const auto tree = asset ? held(asset->root) : nullptr;
  if (!tree) return partial(target);
  auto files = files_of(names_, asset->hub, tree->manifest);
  std::ranges::sort(files, {}, &HubFile::path);
  TreeListing listed(target.path, query.recursive);
  listed.add(files);
  if (!target.path.empty() && !listed.seen()) {
    HubAnswer answer =
        refusal("EntryNotFound", fmt::format("{} has no such directory at {}", spelled(target), asset->hub.commit));
    answer.fields.emplace_back("X-Repo-Commit", asset->hub.commit);
    return answer;
  }
  const auto& entries = listed.entries();
  Json page = Json::array();
  const std::uint64_t begin = std::min<std::uint64_t>(query.begin, entries.size());
  const std::uint64_t end = std::min<std::uint64_t>(begin + page_entries, entries.size());
  for (std::uint64_t i = begin; i < end; ++i) page.push_back(entries[i]);
  HubAnswer answer = document(std::move(page), asset->hub.commit);
  if (end < entries.size() && !query.origin.empty()) {
    const std::string directory = target.path.empty() ? "" : "/" + percent_encode_path(target.path);
    answer.fields.emplace_back(
        "Link", fmt::format("<{}/api/{}/{}/tree/{}{}?recursive={}&cursor={}>; rel=\"next\"", query.origin, target.kind,
                            target.repository, percent_encode(target.revision), directory,
                            query.recursive ? "true" : "false", end));
  }
  return answer;
}

}  // namespace sabath
