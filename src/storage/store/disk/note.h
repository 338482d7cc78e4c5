// Notes: small files that are believed because their owner is (refs, aliases, indexes, leases). The first line of each
// holds its own name and a checksum: a note that is damaged, or that a user moved under another name, counts for
// nothing. docs/store.md, "Notes". Free functions; any thread. Throws Error{space}, Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "store/disk/disk.h"
#include "store/disk/small_file.h"

namespace sabath {

// Whether a file is the note of its name.
enum class Binding {
  own,
  wrong,  // it is another's, or damaged
  none,   // an earlier SABATH wrote it, without a name in it
};
struct OpenedNote {
  Binding binding = Binding::none;
  std::string_view body;
};

// `name`: note_name() of its file.
[[nodiscard]] std::string bind_note(std::string_view name, std::string_view body);
[[nodiscard]] OpenedNote open_note(std::string_view name, std::string_view text);

// The body of a note, of any owner; for care, which only keeps what is named. nullopt: none, or not of this name.
[[nodiscard]] std::optional<std::string> try_read_any_note(const Layout& layout, const std::filesystem::path& file,
                                                           std::uint64_t size_max = small_file_max);
struct Note {
  std::string body;
  bool earlier = false;  // without a name in it; no user but trusted ones could have moved it
};
// One that a trusted user owns.
[[nodiscard]] std::optional<Note> try_read_note(const Disk& disk, const std::filesystem::path& file,
                                                std::uint64_t size_max = small_file_max);
void write_note(Disk& disk, const std::filesystem::path& file, std::string_view body, bool sync);
// Gives this user's note of an earlier SABATH its name, if the store can be written.
void renew_note(Disk& disk, const std::filesystem::path& file, std::string_view body) noexcept;

// The body of an index as an earlier SABATH wrote it, of any of its kinds: it is whole.
[[nodiscard]] bool is_whole_index(std::string_view body);

}  // namespace sabath
