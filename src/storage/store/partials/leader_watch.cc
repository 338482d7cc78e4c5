#include "store/partials/leader_watch.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "store/disk/layout.h"
#include "store/partials/journal.h"
#include "store/partials/source_note.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t followed_max = 4096;            // more directories of one source are no work of ours
constexpr std::uint64_t copied_chunks_max = 1 << 22;  // 16 TiB: copied at most, where it cannot be taken over

template <class Visit>
void for_each_entry(const fs::path& directory, Visit&& visit) {
  std::error_code error;  // it may go at any moment
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) visit(it->path());
}

// By open and fstat: network filesystems then ask the server, instead of answering from their cache.
std::uint64_t size_now(const fs::path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat s {};
  const int error = fd ? ::fstat(fd.get(), &s) : ::lstat(file.c_str(), &s);  // it may be unreadable for us
  return error == 0 && S_ISREG(s.st_mode) ? static_cast<std::uint64_t>(s.st_size) : 0;
}

// The chunks that the directory's journals report in its data file.
std::map<std::uint64_t, std::vector<Sha256>> journaled(const fs::path& directory, const Sha256& key) {
  std::map<std::uint64_t, std::vector<Sha256>> all;
  for_each_entry(directory, [&](const fs::path& file) {
    if (!try_parse_journal_name(file.filename().native())) return;
    JournalReader journal(file, key, copied_chunks_max);
    journal.read_more();
    for (const auto& done : journal.state().done()) all[done.index].push_back(done.hash);
  });
  return all;
}

}  // namespace

LeaderWatch::LeaderWatch(Stock& store, const Sha256& source_key, SteadyNow now)
    : store_(store), key_(source_key), now_(std::move(now)), noted_before_(store.arrivals.noted_at(source_key)) {}

Leader LeaderWatch::look() {
  const Time now = now_();
  if (looked_ && now - *looked_ < interval) return last_;
  if (writers_.empty() && !own_ && !store_.partial_names.has(key_.hex(), now, interval)) {
    looked_ = now;
    return last_ = Leader::none;
  }
  return look_now();
}

Leader LeaderWatch::look_now() {
  looked_ = now_();
  list_directories();
  if (writers_.empty() && !own_) return last_ = Leader::none;
  // A writer that stands still may be followed for seconds after another has published: the note comes first.
  store_.arrivals.refresh();
  last_ = noted_since() ? Leader::published : someone_leads() ? Leader::active : Leader::none;
  return last_;
}

// A writer that sees no other appends a claim record, and so is ahead of all that open later. If two looked before
// either appended, each sees the other now.
bool LeaderWatch::take_lead(OwnPartial& own) {
  if (look_now() != Leader::none) return false;
  own.claim_lead();
  return look_now() == Leader::none;
}

bool LeaderWatch::noted_since() const {
  const auto noted = store_.arrivals.noted_at(key_);
  return noted && (!noted_before_ || *noted > *noted_before_);
}

void LeaderWatch::list_directories() {
  own_.reset();
  for (auto& [name, writer] : writers_) writer.seen = false;
  for_each_entry(store_.layout.partial(key_), [this](const fs::path& directory) { look_at(directory); });
  forget_vanished();
}

void LeaderWatch::look_at(const fs::path& directory) {
  const std::string name = directory.filename();
  const auto id = WriterId::try_parse(std::string_view(name).substr(0, name.find('+')));
  if (!id) return;
  std::uint64_t records = 0, trace = 0;
  for_each_entry(directory, [&](const fs::path& file) {
    const std::string file_name = file.filename();
    const std::uint64_t size = size_now(file);
    trace += xxh3_64(fmt::format("{}/{}", file_name, size));
    if (try_parse_journal_name(file_name)) records = std::max(records, size / journal_record_size);
  });
  if (*id == store_.writer) {
    own_ = std::max(own_.value_or(Rank{}), Rank{records, name});
    return;
  }
  if (writers_.size() >= followed_max && !writers_.contains(name)) return;
  const auto [at, fresh] = writers_.try_emplace(name);
  Writer& writer = at->second;
  if (fresh || writer.trace != trace) writer.advanced = now_();
  writer.id = id;
  writer.records = records;
  writer.trace = trace;
  writer.seen = true;
  writer.vanished.reset();
}

// A directory goes when its content is published, a moment before the note; or when it is discarded.
void LeaderWatch::forget_vanished() {
  const Time now = now_();
  for (auto& [name, writer] : writers_) {
    writer.dead = writer.dead || life_of(*writer.id, store_.writer.host) == Life::dead;
    if (!writer.seen && !writer.vanished) writer.vanished = now;
  }
  std::erase_if(writers_, [&](const auto& entry) {
    const Writer& writer = entry.second;
    return writer.vanished && (writer.dead || now - *writer.vanished >= vanished_max);
  });
}

bool LeaderWatch::someone_leads() const {
  const Time now = now_();
  return std::ranges::any_of(writers_, [&](const auto& entry) {
    const auto& [name, writer] = entry;
    const bool active = !writer.dead && now - writer.advanced < OtherWriters::quiet_max;
    return active && (!own_ || Rank{writer.records, name} > *own_);
  });
}

std::vector<fs::path> LeaderWatch::farthest_first() const {
  std::vector<std::pair<std::uint64_t, fs::path>> found;
  for (const auto& [name, writer] : writers_) {
    if (!writer.vanished && writer.records > 1) found.emplace_back(writer.records, store_.layout.partial(key_) / name);
  }
  std::ranges::sort(found, std::ranges::greater());
  std::vector<fs::path> paths;
  for (auto& entry : found) paths.push_back(std::move(entry.second));
  return paths;
}

std::optional<SourceVersion> LeaderWatch::left_version() {
  list_directories();
  for (const auto& directory : farthest_first()) {
    if (const auto note = try_read_source_note(directory)) return note->version;
  }
  return std::nullopt;
}

namespace {

// What one silent writer left: its data, as its journal vouches for it.
struct Left {
  fs::path directory;
  SourceNote note;
  Fd data;
  std::map<std::uint64_t, std::vector<Sha256>> hashes;

  // The hash of a whole chunk that is as the journal says, read into `chunk`.
  [[nodiscard]] std::optional<Sha256> try_read(std::uint64_t index, std::span<std::byte> chunk) const {
    const auto reported = hashes.find(index);
    if (reported == hashes.end() || read_at(data.get(), chunk, index * chunk.size(), directory) < chunk.size())
      return std::nullopt;
    const Sha256 hash = hash_chunk(chunk);
    return std::ranges::find(reported->second, hash) == reported->second.end() ? std::nullopt : std::optional(hash);
  }
};

}  // namespace

std::uint64_t LeaderWatch::copy_left(OwnPartial& own, const SourceVersion& expected,
                                     const std::function<void(std::span<const std::byte>)>& tee) {
  list_directories();
  std::vector<Left> all;
  for (const auto& directory : farthest_first()) {
    auto note = try_read_source_note(directory);
    auto data = try_open_file(directory / partial_data_name, O_RDONLY | O_NOFOLLOW);
    if (!note || note->version != expected || !data) continue;
    all.push_back({directory, *std::move(note), *std::move(data), journaled(directory, key_)});
  }
  std::uint64_t copied = 0;
  std::vector<std::byte> chunk(chunk_size_bytes);
  const auto copy = [&](const Left& left, std::uint64_t index) {
    const auto hash = left.try_read(index, chunk);
    if (!hash) return false;
    if (copied == 0) own.note_version(left.note.version, left.note.size_bytes);
    own.write_chunk(0, index, chunk, *hash);
    copied += chunk.size();
    return true;
  };
  for (const Left& left : all)
    while (copy(left, own.front() / chunk_size_bytes)) tee(chunk);
  for (const Left& left : all) {  // and what lies behind the front
    const auto done = own.chunks_done();
    for (const auto& [index, hashes] : left.hashes) {
      if (index * chunk_size_bytes > own.front() && (index >= done.size() || !done[index])) copy(left, index);
    }
  }
  return copied;
}

}  // namespace sabath
