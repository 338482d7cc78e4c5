#include "store/hints/arrivals.h"

#include <unistd.h>

#include <functional>

#include "base/clock.h"
#include "base/hash.h"
#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t record_tag = 0x31'76'69'72'72'61'62'73;  // "sbarriv1"
constexpr std::size_t records_per_read = 4096;
constexpr std::size_t pending_max = 64 * arrival_record_size;  // a kill may lose the notes of this many files
constexpr std::size_t logs_before_folding = 8;
constexpr std::uint64_t flag_tls = 1, flag_reach = 2;
constexpr unsigned reach_shift = 2;  // of its two bits

std::uint64_t flags_of(const Arrival& arrival) {
  std::uint64_t flags = arrival.over_tls ? flag_tls : 0;
  if (arrival.reach) flags |= flag_reach | static_cast<std::uint64_t>(*arrival.reach) << reach_shift;
  return flags;
}

std::uint64_t guard(std::string_view body) { return xxh3_64(body) ^ record_tag; }

// Visits the notes from `offset` on; returns the end of the last whole one, from which to read on.
std::uint64_t read_notes(const Owners& owners, const std::filesystem::path& log, std::uint64_t offset,
                         const std::function<void(const ArrivalNote&)>& visit) {
  std::uint64_t end = offset;
  const auto fd = try_open_trusted(owners, log);
  struct stat s {};
  // Folded into another log meanwhile, or nothing new in it.
  if (!fd || (::fstat(fd->get(), &s) == 0 && static_cast<std::uint64_t>(s.st_size) <= offset)) return end;
  std::string buffer(records_per_read * arrival_record_size, '\0');
  for (;; offset += buffer.size()) {
    const std::size_t n = read_at(fd->get(), std::as_writable_bytes(std::span(buffer)), offset, log);
    for (std::size_t at = 0; at + arrival_record_size <= n; at += arrival_record_size) {
      const auto note = try_parse_arrival(std::string_view(buffer).substr(at, arrival_record_size));
      if (!note) continue;
      visit(*note);
      end = offset + at + arrival_record_size;
    }
    if (n < buffer.size()) return end;
  }
}

}  // namespace

void put_arrival(std::string& out, const ArrivalNote& note) {
  std::string body;
  wire::put_hash(body, note.source);
  wire::put_hash(body, note.arrival.digest.hash);
  wire::put(body, note.arrival.digest.size_bytes);
  wire::put(body, static_cast<std::uint64_t>(note.time_ns));
  wire::put(body, flags_of(note.arrival));
  wire::put(out, guard(body));
  out += body;
}

std::optional<ArrivalNote> try_parse_arrival(std::string_view record) {
  if (record.size() != arrival_record_size) return std::nullopt;
  wire::Reader reader(record);
  if (reader.get<std::uint64_t>() != guard(record.substr(8))) return std::nullopt;
  ArrivalNote note;
  note.source = reader.hash();
  note.arrival.digest.hash = reader.hash();
  note.arrival.digest.size_bytes = reader.get<std::uint64_t>();
  note.time_ns = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  const auto flags = reader.get<std::uint64_t>();
  note.arrival.over_tls = (flags & flag_tls) != 0;
  if ((flags & flag_reach) != 0) note.arrival.reach = static_cast<Reach>(flags >> reach_shift & 3);
  return note;
}

Arrivals::Arrivals(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members)
    : owners_(owners), logs_(std::move(directory), std::move(writer), owners, std::move(members)) {}

Arrivals::~Arrivals() { flush_locked(); }

std::optional<Arrival> Arrivals::find(const Sha256& source) {
  const std::lock_guard lock(mutex_);
  if (!loaded_) load(logs_before_folding);
  const auto found = notes_.find(source);
  return found == notes_.end() ? std::nullopt : std::optional(found->second.arrival);
}

void Arrivals::add(const Sha256& source, const Arrival& arrival) {
  const ArrivalNote note{source, arrival, unix_time()};
  const std::lock_guard lock(mutex_);
  if (loaded_) take(note);
  put_arrival(pending_, note);
  if (pending_.size() >= pending_max || arrival.digest.size_bytes > chunk_size_bytes) flush_locked();
}

void Arrivals::flush() {
  const std::lock_guard lock(mutex_);
  flush_locked();
}

void Arrivals::take(const ArrivalNote& note) {
  Newest& newest = notes_[note.source];
  if (note.time_ns >= newest.time_ns) newest = {note.arrival, note.time_ns};
}

// Takes over the logs of dead writers if there are more than `dead_max`.
void Arrivals::load(std::size_t dead_max) {
  flush_locked();                         // our own notes are read with the others'
  const auto dead = logs_.of_the_dead();  // listed before read_news(), so they are read to their end
  read_news();
  loaded_ = true;
  if (dead.size() > dead_max) fold(dead);
}

void Arrivals::read_news() {
  logs_.read([this](const std::filesystem::path& log) {
    std::uint64_t& end = read_[log];
    end = read_notes(owners_, log, end, [this](const ArrivalNote& note) { take(note); });
  });
}

void Arrivals::tidy() {
  const std::lock_guard lock(mutex_);
  load(1);
}

void Arrivals::refresh() {
  const std::lock_guard lock(mutex_);
  loaded_ ? read_news() : load(logs_before_folding);
}

std::optional<std::int64_t> Arrivals::noted_at(const Sha256& source) {
  const std::lock_guard lock(mutex_);
  if (!loaded_) load(logs_before_folding);
  const auto found = notes_.find(source);
  return found == notes_.end() ? std::nullopt : std::optional(found->second.time_ns);
}

// Takes over dead writers' notes, then removes their logs: at every moment each note stands in a log.
void Arrivals::fold(const std::vector<std::filesystem::path>& logs) {
  std::string records;
  for (const auto& [source, newest] : notes_) put_arrival(records, {source, newest.arrival, newest.time_ns});
  if (!logs_.append(records)) return;
  for (const auto& log : logs) ::unlink(log.c_str());
}

void Arrivals::flush_locked() {
  if (!pending_.empty()) logs_.append(pending_);
  pending_.clear();
}

}  // namespace sabath
