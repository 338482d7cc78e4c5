#include "hub/adopted_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <exception>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "base/threads.h"
#include "hub/blob_names.h"
#include "hub/revision.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t commit_file_max = 64;
constexpr std::size_t listed_max = 1'000'000;  // files of one revision
constexpr JsonLimits tree_limits{256UL << 20, 8, 20'000'000};

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_folder(const fs::path& path) {
  const auto there = try_stat(path);
  return there && S_ISDIR(there->st_mode);
}

// The branch or tag by which a commit is known: "main" before others.
std::string revision_of(const fs::path& refs, const std::string& commit) {
  std::string best;
  for_each_file_below(refs, [&](const fs::path& file) {
    const std::string name = file.lexically_relative(refs).native();
    if (!is_hub_revision(name) || trim(try_read_text(file, commit_file_max).value_or("")) != commit) return;
    if (best.empty() || name == "main" || (best != "main" && name < best)) best = name;
  });
  return best.empty() ? commit : best;
}

void add_revisions(const fs::path& folder, std::vector<CachedRevision>& revisions) {
  const auto hub = try_parse_hub_folder(folder.filename().native());
  if (!hub || !is_folder(folder / "snapshots")) return;
  for (const auto& snapshot : list_directory(folder / "snapshots")) {
    const std::string commit = snapshot.filename().native();
    if (!is_hub_commit(commit) || !is_folder(snapshot)) continue;
    CachedRevision revision{*hub, snapshot};
    revision.hub.commit = commit;
    revision.hub.revision = revision_of(folder / "refs", commit);
    revisions.push_back(std::move(revision));
  }
}

// What huggingface_hub noted of all files that a commit has; nullopt: nothing that can be read.
std::optional<std::set<std::string>> try_read_tree(const fs::path& file) {
  const auto text = try_read_text(file, tree_limits.size_max);
  if (!text) return std::nullopt;
  try {
    const JsonValue value = parse_json(*text, file.native(), tree_limits);
    const auto* document = value.get<JsonValue::Object>();
    std::set<std::string> paths;
    for (const JsonMember& member : document != nullptr ? *document : JsonValue::Object{}) {
      const auto* files = member.key == "files" ? member.value.get<JsonValue::Object>() : nullptr;
      if (files == nullptr) continue;
      for (const JsonMember& listed : *files) paths.insert(listed.key);
      return paths;
    }
  } catch (const Error&) {}
  return std::nullopt;
}

// Symlinks of a snapshot lead to blobs of the cache, and to nothing else.
class Snapshot {
 public:
  explicit Snapshot(const fs::path& directory)
      : top_(directory), cache_(fs::canonical(directory.parent_path().parent_path().parent_path())) {
    read(top_);
  }
  [[nodiscard]] const std::vector<CachedFile>& files() const { return files_; }

 private:
  void read(const fs::path& directory) {
    for (const auto& entry : list_directory(directory)) {
      const auto there = try_lstat(entry);
      if (there && S_ISDIR(there->st_mode)) {
        read(entry);
      } else {
        add(entry, there && S_ISLNK(there->st_mode));
      }
    }
  }

  void add(const fs::path& entry, bool is_link) {
    if (files_.size() >= listed_max)
      throw Error(FailureKind::invalid, fmt::format("{} has more than {} files", printable(top_.native()), listed_max));
    std::error_code error;
    const fs::path blob = fs::canonical(entry, error);
    const auto there = error ? std::nullopt : try_stat(blob);
    if (!there || !S_ISREG(there->st_mode)) {
      throw Error(FailureKind::content, fmt::format("{} leads to no file", printable(entry.native())),
                  "download it again, or remove it from the snapshot");
    }
    if (std::ranges::mismatch(cache_, blob).in1 != cache_.end()) {
      throw Error(FailureKind::invalid,
                  fmt::format("{} leads to {}, out of the cache", printable(entry.native()), printable(blob.native())),
                  "a cache's snapshots lead to its own blobs");
    }
    const std::string name = is_link ? fs::read_symlink(entry, error).filename().native() : "";
    files_.push_back({RelativePath::parse(entry.lexically_relative(top_).native()), blob, name});
  }

  const fs::path top_, cache_;
  std::vector<CachedFile> files_;
};

}  // namespace

bool is_hub_cache(const fs::path& directory) noexcept {
  try {
    return !cached_revisions(directory).empty();
  } catch (const std::exception&) {
    return false;
  }
}

std::vector<CachedRevision> cached_revisions(const fs::path& directory) {
  std::error_code error;
  const fs::path place = fs::canonical(directory, error);
  std::vector<CachedRevision> revisions;
  if (!error && is_folder(place)) {
    add_revisions(place, revisions);
    if (revisions.empty())
      for (const auto& folder : list_directory(place)) add_revisions(folder, revisions);
  }
  if (revisions.empty()) {
    throw Error(FailureKind::usage, fmt::format("{} is no cache of the hub", printable(directory.native())),
                "name the directory that has models--OWNER--NAME or datasets--OWNER--NAME, or one of these; it is "
                "HF_HUB_CACHE, by default ~/.cache/huggingface/hub");
  }
  std::ranges::sort(revisions, {}, &CachedRevision::snapshot);
  return revisions;
}

// Compared before it becomes an object, as its last byte passes.
FileTree CacheAdoption::read(const CachedFile& file) {
  const auto there = try_stat(file.blob);
  const auto size = there ? static_cast<std::uint64_t>(there->st_size) : 0;
  const bool in_lfs = is_hex(file.name, 64), in_git = is_hex(file.name, 40);
  StreamHash sha256("sha256");
  StreamHash git = git_blob_hash(size);
  std::uint64_t left = size;
  const auto compare = [&] {
    const std::string computed = in_lfs ? sha256.finish_hex() : in_git ? git.finish_hex() : file.name;
    if (computed == file.name) return;
    throw Error(FailureKind::content,
                fmt::format("{} is not what its name says: its bytes have the hash {}", printable(file.blob.native()),
                            computed),
                "remove it and download it again");
  };
  FileTree tree = store_.adopt(file.blob, true, [&](std::span<const std::byte> bytes) {
    if (in_lfs) sha256.update(bytes);
    if (in_git) git.update(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (on_bytes_) on_bytes_(bytes.size());
    }
    if (left == 0) return;  // it grew, and is refused for that
    left -= std::min<std::uint64_t>(left, bytes.size());
    if (left == 0) compare();
  });
  if (size == 0) compare();
  if (in_lfs) store_.put_alias("sha256", file.name, tree.digest);
  return tree;
}

void CacheAdoption::read_all(const std::vector<CachedFile>& files) {
  std::vector<const CachedFile*> wanted;
  std::set<fs::path> named;
  for (const CachedFile& file : files)
    if (!trees_.contains(file.blob) && named.insert(file.blob).second) wanted.push_back(&file);
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < wanted.size(); i = next++) {
      try {
        FileTree tree = read(*wanted[i]);
        const std::lock_guard lock(mutex_);
        trees_.emplace(wanted[i]->blob, std::move(tree));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure) failure = std::current_exception();
        next = wanted.size();
      }
    }
  };
  {
    const unsigned many = threads_ > 0 ? threads_ : std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> helpers;
    while (helpers.size() + 1 < std::min<std::size_t>(many, wanted.size())) helpers.push_back(start_thread(work));
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

CacheAdoption::Adopted CacheAdoption::adopt(const CachedRevision& revision) {
  const Snapshot snapshot(revision.snapshot);
  const auto& files = snapshot.files();
  if (files.empty()) {
    throw Error(FailureKind::usage, fmt::format("{} has no file", printable(revision.snapshot.native())),
                "nothing was downloaded of this revision");
  }
  read_all(files);
  ManifestBuilder builder;
  Adopted adopted;
  std::set<std::string> paths;
  for (const CachedFile& file : files) {
    const FileTree& tree = trees_.at(file.blob);
    builder.add_file(file.path, tree.digest, tree.chunks);
    if (is_hex(file.name, 64)) {
      builder.add_checksums(file.path, {.sha256 = file.name});
    } else {
      adopted.unchecked += is_hex(file.name, 40) ? 0 : 1;
    }
    paths.insert(file.path.text());
  }
  adopted.root = store_.put_manifest(builder);
  adopted.totals = store_.manifest(adopted.root)->totals();
  HubRevision hub = revision.hub;
  const auto listed = try_read_tree(revision.snapshot.parent_path().parent_path() / "trees" / (hub.commit + ".json"));
  hub.whole = listed && std::ranges::includes(paths, *listed);
  const std::string source = fmt::format("hf://{}@{}", spelled(hub), hub.commit);
  store_.put_ref(sha256("hub\n" + source),
                 {adopted.root, "local copy", {}, std::time(nullptr), source, encode_hub_note(hub)});
  return adopted;
}

}  // namespace sabath
