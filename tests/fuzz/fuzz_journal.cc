// Journals, scratch files, evidence, arrivals, names and the small texts of a store: all of them lie on shared disks,
// where anybody's crash may have left anything.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "store/disk/layout.h"
#include "store/disk/note.h"
#include "store/disk/ref_file.h"
#include "store/disk/writer.h"
#include "store/hints/arrivals.h"
#include "store/hints/evidence_log.h"
#include "store/partials/journal.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_journal(std::string_view bytes) {
  constexpr std::uint64_t chunks = 1000;
  sabath::JournalState state({}, chunks);
  state.take(bytes);
  for (const auto& done : state.done()) check(done.index < chunks);
  for (const auto claim : state.claims()) check(claim < chunks);
  if (const auto record = sabath::try_parse_journal_record(bytes.substr(0, sabath::journal_record_size))) {
    std::string again;
    sabath::put_journal_record(again, *record);
    check(again == bytes.substr(0, sabath::journal_record_size));
  }
}

// The checksum would keep the fuzzer out: records of its making, with the checksum put right.
void check_made_journal(std::string_view bytes) {
  std::string journal;
  sabath::put_journal_record(journal, {sabath::JournalRecordType::header, 0, sabath::journal_version, {}, 0});
  for (std::uint32_t number = 1; bytes.size() >= 10; ++number, bytes.remove_prefix(10)) {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i)]);
    const auto type = static_cast<sabath::JournalRecordType>(bytes[8] & 7);
    sabath::put_journal_record(journal, {type, number ^ (bytes[9] == 1 ? 1U : 0U), value, {}, 0});
  }
  check_journal(journal);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_journal(text);
  check_made_journal(text);
  (void)sabath::try_parse_fact(text.substr(0, sabath::fact_record_size));
  (void)sabath::try_parse_arrival(text.substr(0, sabath::arrival_record_size));
  if (const auto writer = sabath::WriterId::try_parse(text)) check(writer->text() == text);
  if (const auto ref = sabath::try_decode_ref(text)) check(sabath::encode_ref(*ref) == text);
  if (const auto digest = sabath::try_decode_alias(text)) check(sabath::encode_alias(*digest) == text);
  constexpr std::string_view name = "refs/ab/cd.json";
  if (const auto note = sabath::open_note(name, text); note.binding == sabath::Binding::own)
    check(sabath::bind_note(name, note.body) == text);
  (void)sabath::is_whole_index(text);
  (void)sabath::try_parse_object_name(text.substr(0, 2), text.substr(std::min<std::size_t>(2, size)));
  (void)sabath::try_parse_scratch_name(text);
  return 0;
}
