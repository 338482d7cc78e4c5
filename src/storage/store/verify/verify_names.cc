#include "store/verify/verify_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "base/file.h"
#include "sabath/error.h"
#include "store/collect/survey.h"
#include "store/disk/listing.h"
#include "store/disk/note.h"
#include "store/disk/ref_file.h"
#include "store/hints/arrivals.h"
#include "store/hints/checked.h"
#include "store/partials/journal.h"
#include "store/pins.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t any_note_size_max = 1ULL << 30;

class Names {
 public:
  Names(Store::State& store, Scrub& scrub) : store_(store), scrub_(scrub) {}

  std::vector<Manifest> check() {
    for_each_fanned(store_.layout.manifests(), [this](const auto& fan, const auto& name, const fs::path& file) {
      check_manifest(try_parse_hash_name(fan, name, ""), file);
    });
    for (const Room& room : rooms_of_store()) {
      if (room.holds != Room::Holds::notes && room.holds != Room::Holds::records) continue;
      const fs::path own = store_.layout.room(room);
      for (const fs::path& each : note_rooms(store_.layout, own)) {
        if (each != own && ::access(each.c_str(), W_OK) != 0) continue;  // another member's: he looks himself
        room.holds == Room::Holds::notes ? check_notes(room, each) : check_logs(room, each);
      }
    }
    put_notes_back();
    check_pins();
    check_journals();
    return std::move(good_);
  }

 private:
  [[nodiscard]] std::string shown(const fs::path& file) const { return file.lexically_relative(store_.layout.root()); }

  void check_manifest(const std::optional<Sha256>& root, const fs::path& file) {
    try {
      auto manifest = Manifest::open(file);
      if (!root || manifest.root() != *root) throw Error(FailureKind::invalid, "its name is not its root");
      manifest.check();
      good_.push_back(std::move(manifest));
    } catch (const Error& error) {
      if (!try_lstat(file)) return;  // collected meanwhile
      if (error.failure().kind != FailureKind::invalid) throw;
      store_.objects.quarantine(file);
      scrub_.blame({ContentKind::tree, 0, root.value_or(Sha256())}, shown(file), 0, error.what());
    }
  }

  void check_notes(const Room& room, const fs::path& directory) {
    for_each_file_below(directory, [&](const fs::path& file) {
      const auto s = try_lstat(file);
      if (!s || !S_ISREG(s->st_mode) || file.extension() == ".tmp") return;
      const auto text = try_read_small(file, any_note_size_max);
      if ((!text && !try_lstat(file)) || (text && is_right_note(room, file, *text))) return;
      store_.objects.quarantine(file);
      scrub_.blame({}, shown(file), 0, fmt::format("it is a damaged {}", what_it_is(room)));
    });
  }

  static std::string_view what_it_is(const Room& room) {
    return room.name == "refs" ? "ref" : room.name == "indexes" ? "index" : room.name;
  }

  bool is_right_note(const Room& room, const fs::path& file, std::string_view text) const {
    const OpenedNote note = open_note(note_name(store_.layout, file), text);
    if (note.binding == Binding::wrong) return false;
    if (room.name == "refs") return try_decode_ref(note.body).has_value();
    if (room.name == "alias") return try_decode_alias(note.body).has_value();
    return note.binding == Binding::own || is_whole_index(note.body);
  }

  // SABATH 0.1 took notes of `run` and `apply` for damaged indexes, and put them aside: `<key>+<writer>+<n>`.
  void put_notes_back() {
    if (store_.layout.of_several_users()) return;  // there no note of it counts
    for (const fs::path& file : list_directory(store_.layout.quarantine())) {
      const std::string name = file.filename();
      const auto key = Sha256::try_parse(std::string_view(name).substr(0, name.find('+')));
      const auto text = key ? try_read_trusted(store_.owners, file, any_note_size_max) : std::nullopt;
      if (!text || !is_whole_index(*text)) continue;
      const fs::path place = store_.layout.index(*key);
      if (!try_lstat(place)) write_note(store_, place, *text, false);
      ::unlink(file.c_str());
    }
  }

  void check_pins() {
    for (const auto& file : list_directory(store_.layout.pins())) {
      const auto root = try_parse_pin_name(file.filename().native());
      const auto text = try_read_small(file);
      if (!root || (!text && !try_lstat(file))) continue;
      const auto pin = try_decode_pin(text.value_or(""));
      if (pin && is_pin_of(*pin, file)) continue;
      replace_file(store_.temporaries, file, encode_pin({*root, "", std::time(nullptr)}), true);
      scrub_.blame({}, shown(file), 0,
                   "it is damaged: by which name it keeps an asset is lost, and it keeps as before");
    }
  }

  [[nodiscard]] bool is_dead(std::string_view author) const {
    const auto writer = WriterId::try_parse(author.substr(0, author.find('+')));
    return writer && life_of(*writer, store_.writer.host) == Life::dead;
  }

  // Calls `visit` with each whole record of a log and its number; the torn end that a kill leaves is no record.
  template <class Visit>
  static void for_each_record(const fs::path& log, std::size_t size, Visit&& visit) {
    const auto fd = try_open_file(log, O_RDONLY | O_NONBLOCK);
    std::string buffer(4096 * size, '\0');
    for (std::uint64_t number = 0; fd;) {
      const std::size_t n =
          read_at(fd->get(), std::as_writable_bytes(std::span(buffer)), number * size, log) / size * size;
      for (std::size_t at = 0; at < n; at += size) visit(std::string_view(buffer).substr(at, size), number++);
      if (n < buffer.size()) return;
    }
  }

  void check_logs(const Room& room, const fs::path& directory) {
    if (room.name == "arrivals")
      return check_logs(directory, arrival_record_size, [](auto r) { return try_parse_arrival(r).has_value(); });
    if (room.name == "checked")
      return check_logs(directory, check_record_size, [](auto r) { return try_parse_check(r).has_value(); });
    check_logs(directory, fact_record_size, [](auto r) { return try_parse_fact(r).has_value(); });
  }

  template <class Right>
  void check_logs(const fs::path& directory, std::size_t size, Right&& is_right) {
    for (const fs::path& log : list_directory(directory)) {
      const std::string name = log.filename();
      const auto s = try_lstat(log);
      if (!name.ends_with(log_suffix) || !s || !S_ISREG(s->st_mode)) continue;
      std::uint64_t bad = 0, all = 0;
      for_each_record(log, size, [&](std::string_view record, std::uint64_t) {
        ++all;
        if (!is_right(record)) ++bad;
      });
      if (bad == 0) continue;
      scrub_.blame({}, shown(log), 0, fmt::format("{} of {} records are damaged, and were never believed", bad, all));
      if (!is_dead(std::string_view(name).substr(0, name.size() - log_suffix.size()))) continue;
      std::string good;
      for_each_record(log, size, [&](std::string_view record, std::uint64_t) {
        if (is_right(record)) good += record;
      });
      replace_file(store_.temporaries, log, good, false);
    }
  }

  void check_journals() {
    for_each_file_below(store_.layout.partials(), [this](const fs::path& file) {
      const std::string name = file.filename();
      if (const auto author = try_parse_journal_name(name)) check_journal(file, *author);
    });
  }

  void check_journal(const fs::path& file, std::string_view author) {
    std::uint64_t bad = 0, all = 0;
    std::string good;
    std::uint32_t next = 0;
    const auto keep = [&](JournalRecord record) {
      record.number = next++;
      put_journal_record(good, record);
    };
    for_each_record(file, journal_record_size, [&](std::string_view bytes, std::uint64_t number) {
      ++all;
      const auto record = try_parse_journal_record(bytes);
      const bool right =
          record && record->number == number && (number == 0) == (record->type == JournalRecordType::header);
      if (right) return keep(*record);
      ++bad;
      if (number == 0) keep({JournalRecordType::header, 0, journal_version, key_of(file), 0});
    });
    if (bad == 0) return;
    scrub_.blame({}, shown(file), 0,
                 fmt::format("{} of {} records are damaged: what they said is fetched again", bad, all));
    if (is_dead(author) && try_lstat(file)) replace_file(store_.temporaries, file, good, false);
  }

  // partial/<64 hex>.<size>/journal.* and partial/<64 hex>/<writer>/journal.*
  [[nodiscard]] Sha256 key_of(const fs::path& journal) const {
    const std::string below = journal.lexically_relative(store_.layout.partials());
    return Sha256::try_parse(below.substr(0, 2 * Sha256::size)).value_or(Sha256());
  }

  Store::State& store_;
  Scrub& scrub_;
  std::vector<Manifest> good_;
};

}  // namespace

std::vector<Manifest> check_names(Store::State& store, Scrub& scrub) { return Names(store, scrub).check(); }

}  // namespace sabath
