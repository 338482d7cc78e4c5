#include "store/partials/journal.h"

#include <fcntl.h>

#include "manifest/wire.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::uint64_t journal_tag = 0x31'6c'6e'72'6a'62'61'73;  // "sabjrnl1"
constexpr std::size_t journal_records_per_read = 4096;

}  // namespace

void put_journal_record(std::string& out, const JournalRecord& record) {
  std::string body;
  wire::put(body, record.number);
  wire::put(body, static_cast<std::uint32_t>(record.type));
  wire::put(body, record.value);
  wire::put_hash(body, record.hash);
  wire::put(body, record.boot);
  wire::put(out, wire::guard(body, journal_tag));
  out += body;
}

std::optional<JournalRecord> try_parse_journal_record(std::string_view bytes) {
  if (bytes.size() != journal_record_size) return std::nullopt;
  wire::Reader reader(bytes);
  if (reader.get<std::uint64_t>() != wire::guard(bytes.substr(8), journal_tag)) return std::nullopt;
  JournalRecord record;
  record.number = reader.get<std::uint32_t>();
  const auto type = reader.get<std::uint32_t>();
  if (type < 1 || type > 4) return std::nullopt;
  record.type = static_cast<JournalRecordType>(type);
  record.value = reader.get<std::uint64_t>();
  record.hash = reader.hash();
  record.boot = reader.get<std::uint64_t>();
  return record;
}

void JournalState::take(std::string_view records) {
  for (; records.size() >= journal_record_size; records.remove_prefix(journal_record_size)) {
    const std::uint64_t number = next_++;
    const auto record = try_parse_journal_record(records.substr(0, journal_record_size));
    if (!record || record->number != number) continue;
    if (number == 0) {
      valid_ = record->type == JournalRecordType::header && record->value == journal_version && record->hash == key_;
    }
    if (!valid_) continue;
    if (record->value >= chunks_max_) continue;
    const bool release = record->type == JournalRecordType::release;
    if (release || record->type == JournalRecordType::claim) {
      claims_.push_back(record->value);
      is_release_.push_back(release);
    }
    if (record->type == JournalRecordType::done) done_.push_back({record->value, record->hash});
  }
}

bool JournalReader::read_more() {
  const auto fd = try_open_file(file_, O_RDONLY);
  if (!fd) return false;
  std::string buffer(journal_records_per_read * journal_record_size, '\0');
  bool grown = false;
  while (offset_ < journal_records_max * journal_record_size) {
    const std::size_t n = read_at(fd->get(), std::as_writable_bytes(std::span(buffer)), offset_, file_);
    const std::size_t whole = n - n % journal_record_size;
    state_.take(std::string_view(buffer).substr(0, whole));
    offset_ += whole;
    grown = grown || whole > 0;
    if (n < buffer.size()) break;
  }
  return grown;
}

JournalWriter::JournalWriter(std::filesystem::path file, const Sha256& key, std::uint64_t boot)
    : file_(std::move(file)), fd_(open_file(file_, O_WRONLY | O_CREAT | O_TRUNC)) {
  append({JournalRecordType::header, 0, journal_version, key, boot});
}

void JournalWriter::append(JournalRecordType type, std::uint64_t value, const Sha256& hash) {
  append({type, number_, value, hash, 0});
}

void JournalWriter::append(const JournalRecord& record) {
  if (!fd_) throw Error(FailureKind::internal, "a journal that was not begun");
  if (number_ >= journal_records_max) throw Error(FailureKind::storage, file_.native() + " is full", "run again");
  std::string bytes;
  put_journal_record(bytes, record);
  // After a failure the same place is written again, so that a torn record never shifts the later ones.
  write_all_at(fd_.get(), std::as_bytes(std::span(bytes)), std::uint64_t{number_} * journal_record_size, file_);
  ++number_;
}

}  // namespace sabath
