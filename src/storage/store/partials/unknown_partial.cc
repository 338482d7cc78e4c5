#include "store/partials/unknown_partial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/layout.h"
#include "store/partials/source_note.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t unknown_chunks_max = 1ULL << 40;

std::uint64_t length_of(const fs::path& file) {
  const auto s = try_lstat(file);
  return s && S_ISREG(s->st_mode) ? static_cast<std::uint64_t>(s->st_size) : 0;
}

std::vector<fs::path> list(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    paths.push_back(it->path());
  }
  return paths;
}

fs::path new_directory(Stock& store, const Sha256& key) {
  const std::lock_guard lock(store.mutex);
  auto directory = store.layout.partial(key) / fmt::format("{}+{}", store.writer.text(), store.partials_made++);
  store.partials_open.insert(directory);
  return directory;
}

}  // namespace

UnknownPartial::UnknownPartial(Stock& store, const Sha256& key)
    : store_(store),
      key_(key),
      directory_(new_directory(store, key)),
      data_path_(directory_ / partial_data_name),
      name_(directory_.filename()),
      scratch_(directory_, name_) {
  take_directory();
  data_ = store_.layout.members().open_data(data_path_);
  const std::lock_guard lock(mutex_);
  if (!unexamined_) begin_journal();
}

UnknownPartial::~UnknownPartial() {
  if (!over_ && !unexamined_ && end_ == 0 && scratch_.empty()) remove_tree(directory_);
  ::rmdir(directory_.parent_path().c_str());  // if it was the last
  const std::lock_guard lock(store_.mutex);
  store_.partials_open.erase(directory_);
}

std::vector<fs::path> UnknownPartial::ownerless(Stock& store, const Sha256& key) {
  std::vector<fs::path> found;
  for (const auto& directory : list(store.layout.partial(key))) {
    const std::string name = directory.filename();
    const auto owner = WriterId::try_parse(std::string_view(name).substr(0, name.find('+')));
    if (!owner) continue;
    if (*owner == store.writer) {
      const std::lock_guard lock(store.mutex);
      if (!store.partials_open.contains(directory)) found.push_back(directory);
    } else if (life_of(*owner, store.writer.host) == Life::dead) {
      found.push_back(directory);
    }
  }
  std::ranges::sort(found, std::ranges::greater(), [](const fs::path& d) { return length_of(d / partial_data_name); });
  return found;
}

// rename(2) decides between several writers that want the same one.
void UnknownPartial::take_directory() {
  for (const auto& found : ownerless(store_, key_)) {
    if (rename_at(AT_FDCWD, found.c_str(), AT_FDCWD, directory_.c_str()) != 0) continue;
    unexamined_ = true;
    return;
  }
  retry_lost_directory([this] { make_directories(directory_); });
}

void UnknownPartial::begin_journal() {
  journal_ = JournalWriter(directory_ / journal_name(name_), key_, store_.writer.host.boot);
  for (std::uint64_t i = 0; i < hashes_.size(); ++i) {
    if (hashes_[i]) journal_.append(JournalRecordType::done, i, *hashes_[i]);
  }
}

void UnknownPartial::note_done(std::uint64_t index, std::uint64_t length, const Sha256& hash) {
  if (hashes_.size() <= index) hashes_.resize(index + 1);
  hashes_[index] = hash;
  end_ = std::max(end_, index * chunk_size_bytes + length);
  while (front_chunks_ < hashes_.size() && hashes_[front_chunks_]) ++front_chunks_;
}

std::uint64_t UnknownPartial::front_bytes() const { return std::min(end_, front_chunks_ * chunk_size_bytes); }

void UnknownPartial::remove_foreign(std::string_view prefix) noexcept {
  for (const auto& file : list(directory_)) {
    const std::string name = file.filename();
    if (name.starts_with(prefix) && name.find(name_) == std::string::npos) ::unlink(file.c_str());
  }
}

std::vector<fs::path> UnknownPartial::foreign_scratch() const {
  auto files = list(directory_);
  std::erase_if(files, [this](const fs::path& file) {
    const std::string name = file.filename();  // the author is a part of it
    const auto author = try_parse_scratch_name(name);
    return !author || *author == name_;
  });
  return files;
}

std::multimap<std::uint64_t, Sha256> UnknownPartial::journaled() const {
  std::multimap<std::uint64_t, Sha256> all;
  for (const auto& file : list(directory_)) {
    if (!try_parse_journal_name(file.filename().native())) continue;
    JournalReader journal(file, key_, unknown_chunks_max);
    journal.read_more();
    for (const auto& done : journal.state().done()) all.emplace(done.index, done.hash);
  }
  return all;
}

void UnknownPartial::adopt_front(const SourceVersion& expected,
                                 const std::function<void(std::span<const std::byte>)>& tee) {
  if (!unexamined_) return;
  if (version_noted() != expected) return restart();
  const auto hashes = journaled();
  std::vector<std::byte> chunk(chunk_size_bytes);
  Sha256 tail_hash;
  const std::lock_guard lock(mutex_);
  for (auto at = hashes.begin(); at != hashes.end();) {
    const std::uint64_t index = at->first;
    const auto after = hashes.upper_bound(index);
    const auto bytes = std::span(chunk).first(read_at(data_.get(), chunk, index * chunk_size_bytes, data_path_));
    const Sha256 hash = bytes.empty() ? Sha256() : hash_chunk(bytes);
    const bool right = !bytes.empty() && std::any_of(at, after, [&](const auto& done) { return done.second == hash; });
    at = after;
    if (!right) continue;
    if (bytes.size() < chunk_size_bytes) {  // the short last one: it goes on as a chunk on its way
      tail_.assign(bytes.begin(), bytes.end());
      tail_index_ = index;
      tail_hash = hash;
      continue;
    }
    if (index == front_chunks_) tee(bytes);
    note_done(index, bytes.size(), hash);
  }
  begin_journal();
  if (!tail_.empty()) journal_.append(JournalRecordType::done, tail_index_, tail_hash);
  remove_foreign("journal.");  // ours says what theirs said
  for (const auto& file : foreign_scratch()) {
    for (const ScratchPart& part : scratch_parts(file)) {
      if (part.index >= hashes_.size() || !hashes_[part.index]) left_[part.index] += part.length;
    }
  }
  unexamined_ = false;
}

std::vector<ScratchBytes> UnknownPartial::adopt_scratch(std::uint64_t index) {
  if (unexamined_) return {};
  std::vector<ScratchBytes> parts;
  {
    const std::lock_guard lock(mutex_);
    left_.erase(index);
    if (index < hashes_.size() && hashes_[index]) return {};
    if (index == tail_index_ && !tail_.empty()) parts.push_back({0, std::exchange(tail_, {})});
  }
  for (const auto& file : foreign_scratch()) {
    std::ranges::move(read_scratch(file, index, chunk_size_bytes), std::back_inserter(parts));
  }
  return parts;
}

std::map<std::uint64_t, std::uint64_t> UnknownPartial::scratch_left() {
  const std::lock_guard lock(mutex_);
  return left_;
}

SourceVersion UnknownPartial::version_noted() const {
  const auto note = try_read_source_note(directory_);
  return note ? note->version : SourceVersion{};
}

void UnknownPartial::note_version(const SourceVersion& version, std::optional<std::uint64_t> size_bytes) {
  forget_earlier();
  if (version_noted() == version) return;
  const Validators& validators = version.validators;
  nlohmann::ordered_json json{{"etag", validators.etag}, {"last_modified", validators.last_modified}};
  if (!version.source.empty()) json["source"] = version.source;
  if (size_bytes) json["size_bytes"] = *size_bytes;
  write_text_atomically(directory_ / partial_source_name,
                        json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

std::uint64_t UnknownPartial::front() const {
  const std::lock_guard lock(mutex_);
  return front_bytes();
}

void UnknownPartial::forget_earlier() {
  if (unexamined_) restart();
}

// In this order: bytes without a journal do not count, but a journal with another version's bytes would be a lie.
void UnknownPartial::restart() {
  ::unlink((directory_ / journal_name(name_)).c_str());
  remove_foreign("journal.");
  remove_foreign("scratch.");
  if (::ftruncate(data_.get(), 0) != 0) throw_errno("truncate", data_path_, errno);
  ::unlink((directory_ / partial_source_name).c_str());
  scratch_.clear();
  const std::lock_guard lock(mutex_);
  tail_.clear();
  left_.clear();
  front_chunks_ = end_ = 0;
  hashes_.clear();
  unexamined_ = false;
  begin_journal();
}

void UnknownPartial::write_scratch(unsigned lane, std::uint64_t index, std::uint64_t offset,
                                   std::span<const std::byte> part, std::size_t fresh) {
  forget_earlier();
  scratch_.write(lane, index, offset, part, fresh);
}

void UnknownPartial::write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes,
                                 const Sha256& hash) {
  write_bytes(index, bytes);
  note_hash(index, bytes.size(), hash);
  scratch_.chunk_done(lane, index);
}

void UnknownPartial::write_unhashed(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes) {
  write_bytes(index, bytes);
  scratch_.chunk_done(lane, index);
}

void UnknownPartial::note_hash(std::uint64_t index, std::uint64_t length, const Sha256& hash) {
  const std::lock_guard lock(mutex_);
  journal_.append(JournalRecordType::done, index, hash);
  note_done(index, length, hash);
}

void UnknownPartial::write_bytes(std::uint64_t index, std::span<const std::byte> bytes) {
  forget_earlier();
  if (over_ || bytes.empty() || bytes.size() > chunk_size_bytes) {
    throw Error(FailureKind::internal, fmt::format("chunk {} of {} cannot be written", index, directory_.native()));
  }
  const std::uint64_t begin = index * chunk_size_bytes;
  store_.landing.add(bytes.size(), begin == 0 ? 1 : 0);
  store_.layout.members().mark(data_.get());
  write_all_at(data_.get(), bytes, begin, data_path_);
  // Bytes of an earlier, longer short chunk must not follow this one.
  if (bytes.size() < chunk_size_bytes && ::ftruncate(data_.get(), static_cast<off_t>(begin + bytes.size())) != 0) {
    throw_errno("truncate", data_path_, errno);
  }
}

std::size_t UnknownPartial::read(std::uint64_t offset, std::span<std::byte> bytes) {
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t index = offset / chunk_size_bytes;
    if (offset >= end_ || index >= hashes_.size() || !hashes_[index]) return 0;
    const std::uint64_t until = offset < front_bytes() ? front_bytes() : std::min(end_, (index + 1) * chunk_size_bytes);
    bytes = bytes.first(std::min<std::uint64_t>(bytes.size(), until - offset));
  }
  return read_at(data_.get(), bytes, offset, data_path_);
}

FileTree UnknownPartial::publish() {
  forget_earlier();
  FileTree tree;
  for (const auto& hash : hashes_) {
    if (!hash) throw Error(FailureKind::internal, fmt::format("{} has a gap", directory_.native()));
    tree.chunks.push_back(*hash);
  }
  tree.digest = digest_of_chunks(end_, tree.chunks);
  if (::ftruncate(data_.get(), static_cast<off_t>(end_)) != 0) throw_errno("truncate", data_path_, errno);
  try {
    store_.objects.publish_data(data_.get(), data_path_, tree.digest);
  } catch (const SyncFailed&) {
    discard();
    throw;
  }
  over_ = true;
  remove_tree(directory_);
  return tree;
}

void UnknownPartial::discard() {
  over_ = true;
  remove_tree(directory_);
}

std::vector<bool> UnknownPartial::chunks_done() {
  const std::lock_guard lock(mutex_);
  std::vector<bool> done;
  for (const auto& hash : hashes_) done.push_back(hash.has_value());
  return done;
}

void UnknownPartial::claim_lead() {
  const std::lock_guard lock(mutex_);
  if (!unexamined_) journal_.append(JournalRecordType::claim, front_bytes() / chunk_size_bytes);
}

}  // namespace sabath
