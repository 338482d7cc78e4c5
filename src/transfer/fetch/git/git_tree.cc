#include "fetch/git/git_tree.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/percent.h"
#include "base/wording.h"
#include "fetch/git/lfs_pointer.h"
#include "fetch/git/submodule.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/ranks/team.h"
#include "fetch/transfer/at_hand.h"
#include "fetch/transfer/publisher.h"

namespace sabath {
namespace fs = std::filesystem;
namespace {

// A file of the tree whose content is kept elsewhere.
struct Pointed {
  RelativePath path;
  bool executable = false;
  FileJob job;
};

Pointed pointed_at(const Url& url, const RelativePath& path, bool executable, std::optional<std::uint64_t> size,
                   const Checksums& checksum) {
  FileJob job;
  job.name = path.text();
  job.urls = {url};
  job.source = url;
  job.listed = true;
  job.size_bytes = size;
  job.checksum = checksum;
  return {path, executable, std::move(job)};
}

std::optional<Pointed> try_pointed(const GitSource& git, const fs::directory_entry& entry, const RelativePath& path,
                                   bool executable) {
  if (entry.file_size() >= lfs_pointer_size_max) return std::nullopt;
  const auto pointer = try_parse_lfs_pointer(try_read_text(entry.path(), lfs_pointer_size_max).value_or(""));
  const auto url = pointer ? try_lfs_url(git.origin, *pointer) : std::nullopt;
  if (!url) return std::nullopt;
  Checksums checksum;
  checksum.sha256 = pointer->sha256;
  return pointed_at(url->named_by(git.namer), path, executable, pointer->size_bytes, checksum);
}

std::optional<AnnexKey> try_annexed(const fs::directory_entry& entry) {
  if (entry.is_symlink()) return try_parse_annex_link(fs::read_symlink(entry.path()).native());
  if (!entry.is_regular_file() || entry.file_size() > annex_pointer_size_max) return std::nullopt;
  return try_parse_annex_pointer(try_read_text(entry.path(), annex_pointer_size_max).value_or(""));
}

// git-annex's part of a repository: the content itself where the origin is a clone that has it, else only names.
class Annex {
 public:
  explicit Annex(const GitSource& git) : git_(git) {}

  void take(const AnnexKey& key, const RelativePath& path, bool executable, std::vector<Pointed>& pointed) {
    const auto content = find(key.text);
    if (!content) return absent_.push_back(path.text());
    const Url url = Url::parse("file://" + percent_encode_path(content->native())).named_by(git_.namer);
    pointed.push_back(pointed_at(url, path, executable, key.size_bytes, key.checksum));
  }

  void refuse_absent() {
    if (absent_.empty()) return;
    std::ranges::sort(absent_);
    throw Error(
        FailureKind::unavailable,
        fmt::format("{}: git-annex keeps {} of its files elsewhere: {}", printable(git_.origin), absent_.size(),
                    some_of(absent_)),
        fmt::format("clone it, get them (`git annex get .`, `datalad get .`), and give the clone with {}; or name them "
                    "by their URLs in a file_list",
                    option_text("path")));
  }

 private:
  // KEY/KEY, below two directories by its hash, in a clone with a work tree or a bare one.
  std::optional<fs::path> find(const std::string& key) {
    if (!looked_) look();
    looked_ = true;
    const auto found = content_.find(key);
    if (found == content_.end()) return std::nullopt;
    const fs::path file = found->second / key;
    return fs::is_regular_file(file) ? std::optional(file) : std::nullopt;
  }

  void look() {
    const fs::path origin = local_path(git_.origin);
    if (origin.empty()) return;
    std::error_code ignored;
    for (const fs::path& objects : {origin / ".git/annex/objects", origin / "annex/objects"}) {
      for (auto at = fs::recursive_directory_iterator(objects, ignored); at != fs::recursive_directory_iterator();
           at.increment(ignored)) {
        if (at.depth() == 2) at.disable_recursion_pending();
        if (at.depth() == 2) content_.emplace(at->path().filename().native(), at->path());
      }
    }
  }

  const GitSource& git_;
  bool looked_ = false;
  std::map<std::string, fs::path> content_;  // key -> its directory
  std::vector<std::string> absent_;
};

void take_pointed(FetchContext& context, const std::vector<Pointed>& files, ManifestBuilder& builder) {
  std::vector<FileJob> jobs;
  std::vector<FileTree> trees(files.size());
  std::vector<std::size_t> missing;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileOutcome found;
    if (at_hand(context, files[i].job, true, found)) {
      trees[i] = std::move(found.tree);
      continue;
    }
    jobs.push_back(files[i].job);
    missing.push_back(i);
    bytes += files[i].job.size_bytes.value_or(0);
  }
  context.space.reserve(bytes, jobs.size(), "large files");
  const auto outcomes = fetch_by_all_ranks(context, jobs);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].failure) throw Error(*outcomes[i].failure);
    trees[missing[i]] = outcomes[i].tree;
    for (const auto& algorithm : checksum_algorithms) {
      const std::string& hex = outcomes[i].computed.*algorithm.value;
      if (algorithm.finds && !hex.empty()) context.store.put_alias(algorithm.name, hex, outcomes[i].tree.digest);
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    builder.add_file(files[i].path, trees[i].digest, trees[i].chunks, files[i].executable);
}

}  // namespace

std::vector<RelativePath> take_git_tree(FetchContext& context, const GitSource& git, const fs::path& tree,
                                        const std::optional<RelativePath>& below, ManifestBuilder& builder) {
  Publisher publisher(context.store, 1);  // a tree that programs are built and run from is no pack
  std::vector<std::byte> buffer(1 << 20);
  std::vector<Pointed> pointed;
  std::vector<RelativePath> empty;
  Annex annex(git);
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const RelativePath own = RelativePath::parse(entry.path().lexically_relative(tree).string());
    const RelativePath path = below ? *below / own : own;
    const bool executable = (entry.symlink_status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    if (const auto key = try_annexed(entry)) {
      annex.take(*key, path, executable && !entry.is_symlink(), pointed);
      continue;
    }
    if (entry.is_symlink()) {
      builder.add_symlink(path, fs::read_symlink(entry.path()).string());
      continue;
    }
    if (entry.is_directory()) {
      builder.add_directory(path);
      if (fs::is_empty(entry.path())) empty.push_back(own);
      continue;
    }
    if (auto found = try_pointed(git, entry, path, executable)) {
      pointed.push_back(std::move(*found));
      continue;
    }
    const Fd fd = open_file(entry.path(), O_RDONLY | O_NOFOLLOW);
    auto writer = context.store.write_object();
    std::uint64_t offset = 0;
    while (const std::size_t n = read_at(fd.get(), buffer, offset, entry.path())) {
      writer->write(std::span(buffer).first(n));
      offset += n;
    }
    const FileTree& file = writer->finish();
    builder.add_file(path, file.digest, file.chunks, executable);
    context.events.on(event::FileDone{path.text(), file.digest.size_bytes});
    publisher.add(std::move(writer));
  }
  annex.refuse_absent();
  publisher.flush();
  std::ranges::sort(empty, {}, &RelativePath::text);
  if (!pointed.empty()) take_pointed(context, pointed, builder);
  return empty;
}

}  // namespace sabath
