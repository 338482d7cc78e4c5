// The journal of one writer of one partial: its claims and the chunks that it has done. docs/store.md, "Journals".
// Fixed-size records, each with its checksum and its place, written by pwrite.
//
// JournalWriter: one thread at a time. JournalReader: follows another writer's journal; a record is hostile until its
// checksum, its place and the partial's key agree. Throws Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "sabath/digest.h"

namespace sabath {

enum class JournalRecordType : std::uint8_t {
  header = 1,   // the first record, and only it
  claim = 2,    // chunk `value` is on its way
  done = 3,     // chunk `value`, with this hash, is in the data file
  release = 4,  // chunk `value` is not on its way any more
};

struct JournalRecord {
  JournalRecordType type = JournalRecordType::header;
  std::uint32_t number = 0;  // its place in the journal
  std::uint64_t value = 0;   // header: the format's version
  Sha256 hash;               // header: the partial's key; done: the chunk's hash
  std::uint64_t boot = 0;    // header: which start of which machine; for people
  friend bool operator==(const JournalRecord&, const JournalRecord&) = default;
};

inline constexpr std::size_t journal_record_size = 64;
inline constexpr std::uint64_t journal_version = 1;
inline constexpr std::uint64_t journal_records_max = 1ULL << 26;  // 4 GiB: anything longer is no journal

void put_journal_record(std::string& out, const JournalRecord& record);
[[nodiscard]] std::optional<JournalRecord> try_parse_journal_record(std::string_view bytes);

// The state of a journal after its bytes so far; feed them in order. Pure.
class JournalState {
 public:
  JournalState(const Sha256& key, std::uint64_t chunks_max) : key_(key), chunks_max_(chunks_max) {}
  void take(std::string_view records);  // whole records; a bad one is skipped, without a good header all are

  struct Done {
    std::uint64_t index = 0;
    Sha256 hash;
  };
  [[nodiscard]] const std::vector<Done>& done() const { return done_; }               // in the order they were written
  [[nodiscard]] const std::vector<std::uint64_t>& claims() const { return claims_; }  // and releases, in their order
  [[nodiscard]] bool is_release(std::size_t n) const { return is_release_[n]; }       // the n-th of claims()

 private:
  Sha256 key_;
  std::uint64_t chunks_max_;
  std::uint64_t next_ = 0;  // number of the next record
  bool valid_ = false;
  std::vector<Done> done_;
  std::vector<std::uint64_t> claims_;
  std::vector<bool> is_release_;  // of the same length
};

class JournalReader {
 public:
  JournalReader(std::filesystem::path file, const Sha256& key, std::uint64_t chunks_max)
      : file_(std::move(file)), state_(key, chunks_max) {}
  bool read_more();  // true if it has grown
  [[nodiscard]] const JournalState& state() const { return state_; }

 private:
  std::filesystem::path file_;
  std::uint64_t offset_ = 0;
  JournalState state_;
};

class JournalWriter {
 public:
  JournalWriter() = default;
  JournalWriter(std::filesystem::path file, const Sha256& key, std::uint64_t boot);  // made anew, with its header
  void append(JournalRecordType type, std::uint64_t value, const Sha256& hash = {});

 private:
  void append(const JournalRecord& record);
  std::filesystem::path file_;
  Fd fd_;
  std::uint32_t number_ = 0;
};

}  // namespace sabath
