// The writing half of bundles: what is to go is listed first, then read, hashed and sent.
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/wording.h"
#include "fetch/archives/bundle.h"
#include "manifest/file_node.h"
#include "sabath/error.h"
#include "store/disk/layout.h"

namespace sabath {
namespace {

class Tar {
 public:
  explicit Tar(int fd) : tar_(archive_write_new()), entry_(archive_entry_new()) {
    archive_write_set_format_pax_restricted(tar_.get());  // plain ustar if that is enough
    archive_write_set_bytes_in_last_block(tar_.get(), 1);
    if (archive_write_open_fd(tar_.get(), fd) != ARCHIVE_OK) fail();
  }
  void begin(const std::string& name, std::uint64_t size) {
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), name.c_str());
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(size));
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0444);
    archive_entry_set_mtime(entry_.get(), 0, 0);  // the same content gives the same bytes
    if (archive_write_header(tar_.get(), entry_.get()) != ARCHIVE_OK) fail();
  }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const la_ssize_t n = archive_write_data(tar_.get(), bytes.data(), bytes.size());
      if (n <= 0) fail();
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
  void add(const std::string& name, std::string_view text) {
    begin(name, text.size());
    write(std::as_bytes(std::span(text)));
  }
  void close() {
    if (archive_write_close(tar_.get()) != ARCHIVE_OK) fail();
  }

 private:
  struct Free {
    void operator()(archive* a) const noexcept {
      archive_write_fail(a);  // what was not closed is not made to look whole
      archive_write_free(a);
    }
    void operator()(archive_entry* e) const noexcept { archive_entry_free(e); }
  };
  [[noreturn]] void fail() {
    const int error = archive_errno(tar_.get());
    throw_errno("write", "the bundle", error > 0 ? error : EIO);
  }
  std::unique_ptr<archive, Free> tar_;
  std::unique_ptr<archive_entry, Free> entry_;
};

// Adds the runs of chunks of one file that the filter lets through.
void add_runs(const Manifest& manifest, const Entry& file, const WantList* filter, std::vector<ChunkRun>& runs) {
  const Digest& digest = file.digest;
  const std::uint64_t count = chunk_count(digest.size_bytes);
  if (filter == nullptr) return runs.push_back({digest, 0, count});
  if (count <= 1) {
    if (filter->wants(file_key(digest))) runs.push_back({digest, 0, count});
    return;
  }
  const auto chunks = manifest.chunks(file);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!filter->wants(chunk_key(chunks[i], chunk_length(digest.size_bytes, i)))) continue;
    const bool follows = !runs.empty() && runs.back().file == digest && runs.back().first + runs.back().count == i;
    if (follows) {
      ++runs.back().count;
    } else {
      runs.push_back({digest, i, 1});
    }
  }
}

class Export {
 public:
  Export(Store& store, const std::vector<BundledAsset>& assets, const WantList* filter, const OnBytes& on_bytes,
         const std::stop_token& stop)
      : store_(store), on_bytes_(on_bytes), stop_(stop) {
    head_.assets = assets;
    for (const auto& asset : assets) choose(asset, filter);
    head_.runs = runs_.size();
    if (runs_.size() > bundle_runs_max) {
      throw Error(FailureKind::usage, fmt::format("a bundle has at most {} members", bundle_runs_max),
                  "export the assets one by one");
    }
  }

  BundleHead run(int fd) {
    Tar tar(fd);
    write_head(tar);
    std::string contents;
    for (const auto& run : runs_) contents += run.text() + "\n";
    tar.add(std::string(bundle_contents_name), contents);
    for (const auto& run : runs_) send(tar, run);
    tar.close();
    return head_;
  }

 private:
  void choose(const BundledAsset& asset, const WantList* filter) {
    auto manifest = store_.manifest(asset.root);
    if (!manifest) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", asset.name),
                  fmt::format("{} {}", verb_text("fetch"), asset.name));
    }
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file() || !seen_.insert(entry.digest).second) return;
      const std::size_t before = runs_.size();
      add_runs(*manifest, entry, filter, runs_);
      if (runs_.size() == before) return;
      if (!store_.present(entry.digest)) {
        throw Error(FailureKind::offline, fmt::format("{} of {} is not in the store", entry.path.text(), asset.name),
                    fmt::format("{} {}", verb_text("fetch"), asset.name));
      }
      if (chunk_count(entry.digest.size_bytes) > 1) trees_.emplace(entry.digest, manifest->chunks(entry));
      for (std::size_t i = before; i < runs_.size(); ++i) head_.bytes += runs_[i].bytes();
    });
  }

  void write_head(Tar& tar) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const auto& asset : head_.assets) {
      all.push_back({{"name", asset.name},
                     {"root", asset.root.prefixed()},
                     {"trusted_by", asset.trusted_by},
                     {"source", asset.source}});
      if (!asset.kind.empty()) all.back()["kind"] = asset.kind;
    }
    const nlohmann::ordered_json head{
        {"format", "sabath-bundle"}, {"version", 1}, {"assets", all}, {"runs", head_.runs}, {"bytes", head_.bytes}};
    tar.add(std::string(bundle_head_name), head.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
    std::unordered_set<Sha256> written;
    for (const auto& asset : head_.assets) {
      if (!written.insert(asset.root).second) continue;
      const auto bytes = try_read_text(Layout(store_.directory()).manifest(asset.root), bundled_manifest_size_max);
      tar.add("manifests/" + asset.root.hex(), bytes.value_or(""));
    }
  }

  void send(Tar& tar, const ChunkRun& run) {
    tar.begin("objects/" + run.text(), run.bytes());
    if (run.count == 0) return;
    const auto content = store_.open_content(run.file);
    if (!content) throw_errno("open", store_.object_path(run.file), ENOENT);
    const auto tree = trees_.find(run.file);
    for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      const auto bytes = std::span(buffer_).first(chunk_length(run.file.size_bytes, i));
      const bool whole = content->read(i * chunk_size_bytes, bytes) == bytes.size();
      const Sha256& expected = tree == trees_.end() ? run.file.hash : tree->second[i];
      if (!whole || hash_chunk(bytes) != expected) {
        store_.distrust(run.file);
        throw Error(FailureKind::content, fmt::format("{} does not hold what its name says", content->name().native()),
                    fmt::format("{} {} mends it", verb_text("verify"), option_text("repair")));
      }
      tar.write(bytes);
      if (on_bytes_) on_bytes_(bytes.size());
    }
  }

  Store& store_;
  const OnBytes& on_bytes_;
  const std::stop_token stop_;
  BundleHead head_;
  std::vector<ChunkRun> runs_;
  std::unordered_set<Digest> seen_;
  std::unordered_map<Digest, std::vector<Sha256>> trees_;  // of files of several chunks
  std::vector<std::byte> buffer_ = std::vector<std::byte>(chunk_size_bytes);
};

}  // namespace

std::uint64_t ChunkRun::bytes() const {
  return std::min(file.size_bytes, offset() + count * chunk_size_bytes) - offset();
}

std::string ChunkRun::text() const {
  return fmt::format("{}.{}.{}+{}", file.hash.hex(), file.size_bytes, first, count);
}

std::optional<ChunkRun> try_parse_run(std::string_view text) {
  constexpr std::size_t digits = 2 * Sha256::size;
  const auto hash = text.size() > digits ? Sha256::try_parse(text.substr(0, digits)) : std::nullopt;
  if (!hash) return std::nullopt;
  ChunkRun run;
  run.file.hash = *hash;
  const char* at = text.data() + digits + 1;
  const char* const end = text.data() + text.size();
  for (std::uint64_t* number : {&run.file.size_bytes, &run.first, &run.count}) {
    if (at > end) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, *number);
    if (error != std::errc()) return std::nullopt;
    at = next + 1;
  }
  const std::uint64_t chunks = chunk_count(run.file.size_bytes);
  const bool inside = run.first <= chunks && run.count <= chunks - run.first && (run.count > 0 || chunks == 0);
  if (run.file.size_bytes > file_size_max || !inside || run.text() != text) return std::nullopt;
  return run;
}

BundleHead write_bundle(Store& store, const std::vector<BundledAsset>& assets, const WantList* filter, int fd,
                        const OnBytes& on_bytes, const std::stop_token& stop) {
  return Export(store, assets, filter, on_bytes, stop).run(fd);
}

}  // namespace sabath
