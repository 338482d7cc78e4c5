// The reading half of bundles. A bundle is a stranger's file: members come in one order, under names that are compared
// with what must come next, and nothing is published but what its hash proves.
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/file.h"
#include "base/wording.h"
#include "fetch/archives/archive_stream.h"
#include "fetch/archives/bundle.h"
#include "fetch/hosts/space_guard.h"
#include "fetch/remote_tar/remote_tar_header.h"
#include "fetch/transfer/publisher.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "store/chunk_index.h"
#include "store/space/footprint.h"

namespace sabath {
namespace {

constexpr std::uint64_t head_size_max = 1 << 20;
constexpr std::uint64_t run_text_max = 128;
constexpr std::size_t missing_shown_max = 10, name_size_max = 255;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(
      FailureKind::invalid, "this is no bundle that can be believed: " + what,
      fmt::format("`{}` makes bundles; if this is one it was damaged on its way: bring it anew. What was verified "
                  "until here is kept",
                  verb_text("export")));
}

// A file or a pipe, read in order. Its start is looked at twice, and what was read last: a compressed stream may have
// ended in it.
class Input {
 public:
  explicit Input(int fd) : fd_(fd) {}
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) {
    if (offset < start_.size()) return again(start_, offset, bytes);
    const std::uint64_t last_begin = position_ - last_.size();
    if (offset >= last_begin && offset < position_) return again(last_, offset - last_begin, bytes);
    if (offset != position_) refuse("it is not a tar");
    ssize_t n = 0;
    do {
      n = ::read(fd_, bytes.data(), bytes.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) throw_errno("read", "the bundle", errno);
    const auto count = static_cast<std::size_t>(n);
    const std::size_t kept =
        position_ < start_max ? std::min(count, start_max - static_cast<std::size_t>(position_)) : 0;
    start_.insert(start_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kept));
    position_ += count;
    if (count > 0) last_.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

 private:
  static constexpr std::size_t start_max = tar_block_size;
  static std::size_t again(std::span<const std::byte> from, std::uint64_t at, std::span<std::byte> bytes) {
    const auto left = from.subspan(static_cast<std::size_t>(at));
    const std::size_t n = std::min(bytes.size(), left.size());
    std::copy_n(left.begin(), n, bytes.begin());
    return n;
  }
  int fd_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> start_, last_;
};

class Members {
 public:
  explicit Members(int fd)
      : input_(fd),
        read_([this](std::uint64_t offset, std::span<std::byte> bytes) { return input_.read(offset, bytes); }),
        stream_(name_, read_) {}

  // False at the end.
  bool next() {
    archive_entry* const entry = stream_.next();
    if (entry == nullptr) return false;
    const char* const path = archive_entry_pathname(entry);
    own_name_ = path == nullptr ? "" : path;
    const bool plain = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr &&
                       archive_entry_size_is_set(entry) != 0 && archive_entry_size(entry) >= 0;
    if (!plain) refuse(fmt::format("the member {} is no regular file", printable(own_name_)));
    size_ = static_cast<std::uint64_t>(archive_entry_size(entry));
    position_ = 0;
    block_ = {};
    return true;
  }
  void expect(const std::string& name) {
    if (!next()) refuse(fmt::format("it ends before {}", name));
    if (own_name_ != name) refuse(fmt::format("it has {} where {} belongs", printable(own_name_), name));
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Fills all of `bytes` from the member.
  void read(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      if (block_.empty()) {
        const auto block = stream_.next_block();
        if (!block) refuse(fmt::format("it ends inside {}", printable(own_name_)));
        if (block->offset != position_) refuse(fmt::format("{} has holes", printable(own_name_)));
        block_ = block->bytes;
        position_ += block_.size();
        continue;
      }
      const std::size_t n = std::min(bytes.size(), block_.size());
      std::copy_n(block_.begin(), n, bytes.begin());
      block_ = block_.subspan(n);
      bytes = bytes.subspan(n);
    }
  }
  std::string text(std::uint64_t size_max) {
    if (size_ > size_max) refuse(fmt::format("{} has {} bytes", printable(own_name_), size_));
    std::string text;
    while (text.size() < size_) {  // grows with what comes, not with what is said
      const std::size_t n = std::min<std::uint64_t>(size_ - text.size(), chunk_size_bytes);
      text.resize(text.size() + n);
      read(std::as_writable_bytes(std::span(text)).last(n));
    }
    return text;
  }

 private:
  const std::string name_ = "the bundle";
  Input input_;
  const ReadAt read_;
  ArchiveStream stream_;
  std::string own_name_;
  std::uint64_t size_ = 0, position_ = 0;
  std::span<const std::byte> block_;
};

std::vector<BundledAsset> parse_head(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (text.find('\0') != std::string::npos) refuse("its head");  // where the parser would stop
  if (!json.is_object() || json.value("format", nlohmann::json()) != "sabath-bundle") refuse("its head says so");
  const auto version = json.value("version", nlohmann::json());
  if (!version.is_number_unsigned() || version.get<std::uint64_t>() == 0) refuse("its version");
  if (version.get<std::uint64_t>() != 1) {
    throw Error(FailureKind::invalid,
                fmt::format("the bundle has version {}, and this program knows 1", version.get<std::uint64_t>()),
                "use a newer SABATH to read it");
  }
  const auto assets = json.value("assets", nlohmann::json());
  if (!assets.is_array() || assets.size() > bundle_assets_max) refuse("its list of assets");
  std::vector<BundledAsset> all;
  for (const auto& asset : assets) {
    const auto text_of = [&](const char* key, std::size_t size_max) {
      const auto value = asset.is_object() ? asset.value(key, nlohmann::json()) : nlohmann::json();
      if (!value.is_string() || value.get_ref<const std::string&>().size() > size_max) refuse("an asset of its list");
      return value.get<std::string>();
    };
    const auto root = Sha256::try_parse(text_of("root", 2 * name_size_max));
    if (!root) refuse("a root of its list");
    const std::string name = text_of("name", name_size_max);
    if (!is_name(name) && name != root->prefixed()) refuse(fmt::format("the name {}", printable(name)));
    all.push_back({name, printable(text_of("trusted_by", name_size_max)), printable(text_of("source", 8192)), *root,
                   asset.contains("kind") ? printable(text_of("kind", name_size_max)) : std::string()});
  }
  return all;
}

class Import {
 public:
  Import(Store& store, int fd, const OnBytes& on_bytes, const std::stop_token& stop)
      : store_(store), members_(fd), on_bytes_(on_bytes), stop_(stop), index_(store) {}

  Imported run() {
    const Lease lease = store_.lease({}, "import", {true});
    members_.expect(std::string(bundle_head_name));
    for (auto& asset : parse_head(members_.text(head_size_max)))
      imported_.assets.push_back({std::move(asset), 0, 0, {}, 0});
    for (const auto& asset : imported_.assets) take_manifest(asset.asset.root);
    members_.expect(std::string(bundle_contents_name));
    const auto runs = parse_contents(members_.text(runs_max() * run_text_max));
    reserve_room(runs);
    publisher_.emplace(store_, files_.size());
    for (const auto& run : runs) take(run);
    finish_file();
    publisher_->flush();
    if (members_.next()) refuse("there is more in it than its list says");
    for (auto& asset : imported_.assets) complete(asset);
    publisher_->flush();
    return std::move(imported_);
  }

 private:
  void take_manifest(const Sha256& root) {
    if (!roots_.insert(root).second) return;
    members_.expect("manifests/" + root.hex());
    store_.put_manifest(members_.text(bundled_manifest_size_max), root);  // checked wholly
    const auto manifest = store_.manifest(root);
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file() || files_.contains(entry.digest)) return;
      const bool large = chunk_count(entry.digest.size_bytes) > 1;
      files_.emplace(entry.digest, large ? manifest->chunks(entry) : std::vector<Sha256>{});
    });
  }

  // As many members as the files can have: those of one file never touch.
  [[nodiscard]] std::uint64_t runs_max() const {
    std::uint64_t sum = 0;
    for (const auto& [file, chunks] : files_) sum += std::max<std::uint64_t>(1, (chunks.size() + 1) / 2);
    return std::min(sum, bundle_runs_max);
  }

  std::vector<ChunkRun> parse_contents(const std::string& text) {
    std::vector<ChunkRun> runs;
    std::unordered_set<Digest> begun;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const auto run = try_parse_run(std::string_view(text).substr(at, end - at));
      if (!run || end == text.size()) refuse("its list of contents");
      if (!files_.contains(run->file)) refuse("it has content that none of its manifests names");
      const bool follows = !runs.empty() && runs.back().file == run->file;
      const bool ordered =
          follows ? runs.back().first + runs.back().count < run->first : begun.insert(run->file).second;
      if (!ordered || runs.size() == bundle_runs_max) refuse("its list of contents is not in order");
      runs.push_back(*run);
      at = end + 1;
    }
    return runs;
  }

  // As for a fetch: quotas count, and what others were promised is not free.
  void reserve_room(const std::vector<ChunkRun>& runs) {
    Footprint footprint(&store_, files_.size());
    Need need;
    const Digest* last = nullptr;
    for (const auto& run : runs) {
      const bool begun = last != nullptr && *last == run.file;
      last = &run.file;
      if (begun || store_.present(run.file)) continue;
      footprint.add_file(run.file.size_bytes, store_.held(run.file));
      need.biggest_file = std::max(need.biggest_file, run.file.size_bytes);
    }
    need.bytes = footprint.bytes();
    need.inodes = footprint.inodes();
    need.biggest_name = "the largest file of the bundle";
    const std::string what = "the bundle";
    room_.emplace(
        store_, "import",
        [&] {
          return SpaceGuard::Ahead{need, what};
        },
        stop_);
    room_->reserve(need, what);
  }

  void take(const ChunkRun& run) {
    if (run.file != current_) finish_file();
    members_.expect("objects/" + run.text());
    if (members_.size() != run.bytes()) refuse(fmt::format("objects/{} has another length", run.text()));
    if (current_ != run.file) begin_file(run.file);
    if (here_) {
      imported_.present_bytes += run.bytes();
      return;  // libarchive passes over what is not read
    }
    const std::uint64_t steps = std::max<std::uint64_t>(run.count, 1);  // an empty file is one step without bytes
    for (std::uint64_t i = run.first; i < run.first + steps; ++i) take_chunk(run, i);
  }

  void take_chunk(const ChunkRun& run, std::uint64_t index) {
    if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const std::uint64_t length = run.count == 0 ? 0 : chunk_length(run.file.size_bytes, index);
    const auto bytes = std::span(buffer_).first(length);
    members_.read(bytes);
    if (on_bytes_) on_bytes_(length);
    const auto& chunks = files_.at(run.file);
    const bool known = partial_ != nullptr && done_[index];
    if (known) {
      imported_.present_bytes += length;
      return;
    }
    const Sha256& expected = chunks.empty() ? run.file.hash : chunks[index];
    if ((length == 0 ? sha256_of_nothing() : hash_chunk(bytes)) != expected) {
      throw Error(FailureKind::content, fmt::format("objects/{}: chunk {} does not match its hash", run.text(), index),
                  "the bundle was damaged on its way: bring it anew; what was verified until here is kept");
    }
    if (partial_) {
      partial_->write_chunk(0, index, bytes, expected);
      done_[index] = true;
    } else {
      publisher_->add(hash_content(bytes), bytes);
    }
    imported_.bundle_bytes += length;
  }

  static Sha256 sha256_of_nothing() { return FileHasher().finish().digest.hash; }

  void begin_file(const Digest& file) {
    current_ = file;
    here_ = store_.present(file);
    const auto& chunks = files_.at(file);
    if (here_ || chunks.empty()) return;
    partial_ = store_.open_partial(file, chunks);
    done_ = partial_->chunks_done();
  }

  // Chunks that did not come may stand in other objects: then the file is whole.
  void finish_file() {
    const Digest file = std::exchange(current_, {});
    if (!partial_) return;
    const auto partial = std::move(partial_);
    if (fill(file, *partial, done_)) partial->publish();
  }

  bool fill(const Digest& file, SharedPartial& partial, std::vector<bool>& done) {
    const auto& chunks = files_.at(file);
    for (std::uint64_t i = 0; i < chunks.size(); ++i) {
      if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
      if (!done[i]) done[i] = copy(chunks[i], chunk_length(file.size_bytes, i), partial, i);
      if (!done[i]) return false;
    }
    return true;
  }

  void complete(ImportedAsset& asset) {
    const auto manifest = store_.manifest(asset.asset.root);
    asset.files = manifest->totals().files;
    asset.bytes = manifest->totals().bytes;
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file() || store_.present(entry.digest) || complete(entry.digest)) return;
      ++asset.missing_files;
      if (asset.missing.size() < missing_shown_max) asset.missing.push_back(entry.path.text());
    });
  }

  bool complete(const Digest& file) {
    const auto& chunks = files_.at(file);
    if (chunks.empty()) return complete_small(file);
    const auto partial = store_.open_partial(file, chunks);
    auto done = partial->chunks_done();
    if (!fill(file, *partial, done)) return false;
    partial->publish();
    return true;
  }

  bool copy(const Sha256& hash, std::uint64_t length, SharedPartial& partial, std::uint64_t index) {
    index_.build("");
    for (const auto& place : index_.find(hash, length)) {
      if (!copy_chunk(store_, place, hash, partial, 0, index, buffer_)) continue;
      imported_.copied_bytes += length;
      return true;
    }
    return false;
  }

  // Of one chunk: it may be one of a larger file.
  bool complete_small(const Digest& file) {
    index_.build("");
    for (const auto& place : index_.find(file.hash, file.size_bytes)) {
      const auto partial = store_.open_partial(file, {file.hash});
      if (!copy_chunk(store_, place, file.hash, *partial, 0, 0, buffer_)) continue;
      partial->publish();
      imported_.copied_bytes += file.size_bytes;
      return true;
    }
    return false;
  }

  Store& store_;
  Members members_;
  const OnBytes& on_bytes_;
  const std::stop_token stop_;
  std::optional<SpaceGuard> room_;
  std::optional<Publisher> publisher_;
  ChunkIndex index_;
  Imported imported_;
  std::unordered_set<Sha256> roots_;
  std::unordered_map<Digest, std::vector<Sha256>> files_;  // of all manifests; chunks of those that have several
  std::vector<std::byte> buffer_ = std::vector<std::byte>(chunk_size_bytes);
  Digest current_;  // the file on its way
  bool here_ = false;
  std::unique_ptr<SharedPartial> partial_;
  std::vector<bool> done_;
};

}  // namespace

Imported read_bundle(Store& store, int fd, const OnBytes& on_bytes, const std::stop_token& stop) {
  try {
    return Import(store, fd, on_bytes, stop).run();
  } catch (const Error& error) {
    if (!error.failure().message.starts_with("cannot unpack")) throw;
    refuse(error.failure().message);  // not what else an archive may be
  }
}

}  // namespace sabath
