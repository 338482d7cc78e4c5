#include "store/unknown_partial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sabath/error.h"
#include "store/layout.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t source_size_max = 64 * 1024;
constexpr std::uint64_t chunks_max = 1ULL << 40;

std::uint64_t size_of(const fs::path& file) {
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

fs::path new_directory(Store::State& store, const Sha256& key) {
  const std::lock_guard lock(store.mutex);
  auto directory = store.layout.partial(key) / fmt::format("{}+{}", store.writer.text(), store.partials_made++);
  store.partials_open.insert(directory);
  return directory;
}

}  // namespace

UnknownPartial::UnknownPartial(Store::State& store, const Sha256& key)
    : store_(store),
      key_(key),
      directory_(new_directory(store, key)),
      data_path_(directory_ / partial_data_name),
      name_(directory_.filename()),
      scratch_(directory_, name_) {
  take_directory();
  // A publisher that died between sealing and naming the data leaves it read-only.
  const auto there = try_lstat(data_path_);
  if (there && (there->st_mode & S_IWUSR) == 0) ::chmod(data_path_.c_str(), there->st_mode | S_IWUSR);
  data_ = open_file(data_path_, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (!unexamined_) begin_journal();
}

UnknownPartial::~UnknownPartial() {
  if (!over_ && !unexamined_ && front_ == 0 && scratch_.empty()) remove_tree(directory_);
  ::rmdir(directory_.parent_path().c_str());  // if it was the last
  const std::lock_guard lock(store_.mutex);
  store_.partials_open.erase(directory_);
}

std::vector<fs::path> UnknownPartial::ownerless(Store::State& store, const Sha256& key) {
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
  std::ranges::sort(found, std::ranges::greater(), [](const fs::path& d) { return size_of(d / partial_data_name); });
  return found;
}

// rename(2) decides between several who want the same one.
void UnknownPartial::take_directory() {
  for (const auto& found : ownerless(store_, key_)) {
    if (::rename(found.c_str(), directory_.c_str()) != 0) continue;
    unexamined_ = true;
    return;
  }
  retry_lost_directory([this] { make_directories(directory_); });
}

void UnknownPartial::begin_journal() {
  journal_ = JournalWriter(directory_ / journal_name(name_), key_, store_.writer.host.boot);
  for (std::uint64_t i = 0; i < hashes_.size(); ++i) journal_.append(JournalRecordType::done, i, hashes_[i]);
}

void UnknownPartial::remove_foreign(std::string_view prefix) noexcept {
  for (const auto& file : list(directory_)) {
    const std::string name = file.filename();
    if (name.starts_with(prefix) && name.find(name_) == std::string::npos) ::unlink(file.c_str());
  }
}

std::multimap<std::uint64_t, Sha256> UnknownPartial::journaled() const {
  std::multimap<std::uint64_t, Sha256> all;
  for (const auto& file : list(directory_)) {
    if (!try_parse_journal_name(file.filename().native())) continue;
    JournalReader journal(file, key_, chunks_max);
    journal.read_more();
    for (const auto& done : journal.state().done()) all.emplace(done.index, done.hash);
  }
  return all;
}

void UnknownPartial::adopt_front(const Validators& expected,
                                 const std::function<void(std::span<const std::byte>)>& tee) {
  if (!unexamined_) return;
  if (validators_noted() != expected) return restart();
  const auto hashes = journaled();
  std::vector<std::byte> chunk(chunk_size_bytes);
  Sha256 tail_hash;
  for (;;) {
    const std::uint64_t index = front_ / chunk_size_bytes;
    const auto bytes = std::span(chunk).first(read_at(data_.get(), chunk, front_, data_path_));
    const auto [begin, end] = hashes.equal_range(index);
    if (bytes.empty() || begin == end) break;
    const Sha256 hash = hash_chunk(bytes);
    if (std::none_of(begin, end, [&](const auto& journal) { return journal.second == hash; })) break;
    if (bytes.size() < chunk_size_bytes) {  // the short last one: it goes on as a chunk on its way
      tail_.assign(bytes.begin(), bytes.end());
      tail_hash = hash;
      break;
    }
    tee(bytes);
    const std::lock_guard lock(mutex_);
    hashes_.push_back(hash);
    front_ += bytes.size();
  }
  begin_journal();
  if (!tail_.empty()) journal_.append(JournalRecordType::done, front_ / chunk_size_bytes, tail_hash);
  remove_foreign("journal.");  // ours says what theirs said
  unexamined_ = false;
}

std::vector<std::byte> UnknownPartial::adopt_scratch(std::uint64_t index) {
  if (unexamined_ || index * chunk_size_bytes != front_) return {};
  std::vector<std::byte> best = std::exchange(tail_, {});
  for (const auto& file : list(directory_)) {
    const std::string name = file.filename();
    const auto author = try_parse_scratch_name(name);
    if (!author || *author == name_) continue;
    auto start = read_scratch(file, index, chunk_size_bytes);
    if (start.size() > best.size()) best = std::move(start);
  }
  if (!best.empty()) scratch_.adopt(index, best);
  return best;
}

Validators UnknownPartial::validators_noted() const {
  std::optional<std::string> text;
  try {
    text = try_read_text(directory_ / partial_source_name, source_size_max);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
  }
  const auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!json.is_object()) return {};
  const auto text_of = [&](const char* key) {
    const auto value = json.find(key);
    return value != json.end() && value->is_string() ? value->get<std::string>() : std::string();
  };
  return {text_of("etag"), text_of("last_modified")};
}

void UnknownPartial::note_validators(const Validators& validators, std::optional<std::uint64_t> size_bytes) {
  forget_earlier();
  if (validators_noted() == validators) return;
  nlohmann::ordered_json json{{"etag", validators.etag}, {"last_modified", validators.last_modified}};
  if (size_bytes) json["size_bytes"] = *size_bytes;
  write_text_atomically(directory_ / partial_source_name,
                        json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
}

std::uint64_t UnknownPartial::front() const {
  const std::lock_guard lock(mutex_);
  return front_;
}

void UnknownPartial::forget_earlier() {
  if (unexamined_) restart();
}

// In this order: bytes without a journal are nothing, a journal with another version's bytes would be a lie.
void UnknownPartial::restart() {
  ::unlink((directory_ / journal_name(name_)).c_str());
  remove_foreign("journal.");
  remove_foreign("scratch.");
  if (::ftruncate(data_.get(), 0) != 0) throw_errno("truncate", data_path_, errno);
  ::unlink((directory_ / partial_source_name).c_str());
  scratch_.clear();
  tail_.clear();
  {
    const std::lock_guard lock(mutex_);
    front_ = 0;
    hashes_.clear();
  }
  unexamined_ = false;
  begin_journal();
}

void UnknownPartial::write_scratch(unsigned lane, std::uint64_t index, std::uint64_t offset,
                                   std::span<const std::byte> bytes) {
  forget_earlier();
  scratch_.write(lane, index, offset, bytes);
}

void UnknownPartial::write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes,
                                 const Sha256& hash) {
  forget_earlier();
  if (over_ || index * chunk_size_bytes != front_ || bytes.empty() || bytes.size() > chunk_size_bytes) {
    throw Error(FailureKind::internal, fmt::format("chunk {} is not the next one of {}", index, directory_.native()));
  }
  write_all_at(data_.get(), bytes, front_, data_path_);
  // Bytes of an earlier, longer short chunk must not follow this one.
  if (bytes.size() < chunk_size_bytes && ::ftruncate(data_.get(), static_cast<off_t>(front_ + bytes.size())) != 0) {
    throw_errno("truncate", data_path_, errno);
  }
  journal_.append(JournalRecordType::done, index, hash);
  {
    const std::lock_guard lock(mutex_);
    hashes_.push_back(hash);
    front_ += bytes.size();
  }
  scratch_.chunk_done(lane, index);
}

std::size_t UnknownPartial::read(std::uint64_t offset, std::span<std::byte> bytes) {
  const std::uint64_t end = front();
  if (offset >= end) return 0;
  return read_at(data_.get(), bytes.first(std::min<std::uint64_t>(bytes.size(), end - offset)), offset, data_path_);
}

FileTree UnknownPartial::publish() {
  forget_earlier();
  FileTree tree{digest_of_chunks(front_, hashes_), hashes_};
  if (::ftruncate(data_.get(), static_cast<off_t>(front_)) != 0) throw_errno("truncate", data_path_, errno);
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

// Nobody shares it: these have nothing to tell.
std::vector<bool> UnknownPartial::chunks_done() { return std::vector<bool>(hashes_.size(), true); }
void UnknownPartial::claim(std::uint64_t) {}
bool UnknownPartial::claimed_by_other(std::uint64_t) { return false; }

std::unique_ptr<Partial> Store::open_partial(const Sha256& source_key) {
  return std::make_unique<UnknownPartial>(*state_, source_key);
}

bool Store::has_partial(const Sha256& source_key) const {
  return !UnknownPartial::ownerless(*state_, source_key).empty();
}

}  // namespace sabath
