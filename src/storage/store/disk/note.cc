#include "store/disk/note.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// "sabath note 1 <XXH3 of all that follows, 16 digits> <name>\n", and the body.
constexpr std::string_view head = "sabath note 1 ";
constexpr std::size_t sum_digits = 16, first_line_max = 512;

std::string sum_of(std::string_view rest) { return fmt::format("{:016x}", xxh3_64(rest)); }

// No user who is not trusted can have moved a file there: every directory up to the store's top is a trusted user's.
bool is_out_of_reach(const Disk& disk, const fs::path& file) {
  const fs::path& top = disk.layout.root();
  if (disk.layout.of_several_users()) return false;
  for (fs::path at = file.parent_path();; at = at.parent_path()) {
    const auto s = try_stat(at);
    if (!s || !disk.owners.trusts(*s) || (s->st_mode & 0022) != 0) return false;
    if (at.native().size() <= top.native().size()) return true;
  }
}

// The note that a file of this text is; nullopt: it is another's, damaged, or too large.
std::optional<Note> note_of(const Layout& layout, const fs::path& file, std::string text, std::uint64_t size_max) {
  const auto note = open_note(note_name(layout, file), text);
  if (note.binding == Binding::wrong || note.body.size() > size_max) return std::nullopt;
  const bool earlier = note.binding == Binding::none;
  return Note{earlier ? std::move(text) : std::string(note.body), earlier};
}

}  // namespace

std::string bind_note(std::string_view name, std::string_view body) {
  const std::string rest = fmt::format("{}\n{}", name, body);
  return fmt::format("{}{} {}", head, sum_of(rest), rest);
}

OpenedNote open_note(std::string_view name, std::string_view text) {
  if (!text.starts_with(head)) return {Binding::none, text};
  text.remove_prefix(head.size());
  if (text.size() <= sum_digits || text[sum_digits] != ' ') return {Binding::wrong, {}};
  const std::string_view sum = text.substr(0, sum_digits), rest = text.substr(sum_digits + 1);
  const bool right = rest.size() > name.size() && rest.starts_with(name) && rest[name.size()] == '\n';
  if (!right || sum != sum_of(rest)) return {Binding::wrong, {}};
  return {Binding::own, rest.substr(name.size() + 1)};
}

std::optional<std::string> try_read_any_note(const Layout& layout, const fs::path& file, std::uint64_t size_max) {
  auto text = try_read_small(file, size_max + first_line_max);
  auto note = text ? note_of(layout, file, std::move(*text), size_max) : std::nullopt;
  return note ? std::optional(std::move(note->body)) : std::nullopt;
}

std::optional<Note> try_read_note(const Disk& disk, const fs::path& file, std::uint64_t size_max) {
  auto text = try_read_trusted(disk.owners, file, size_max + first_line_max);
  auto note = text ? note_of(disk.layout, file, std::move(*text), size_max) : std::nullopt;
  return note && note->earlier && !is_out_of_reach(disk, file) ? std::nullopt : note;
}

void write_note(Disk& disk, const fs::path& file, std::string_view body, bool sync) {
  replace_file(disk.temporaries, file, bind_note(note_name(disk.layout, file), body), sync);
}

void renew_note(Disk& disk, const fs::path& file, std::string_view body) noexcept {
  try {
    const auto there = try_lstat(file);
    if (there && there->st_uid == ::geteuid()) write_note(disk, file, body, false);
  } catch (const std::exception&) {  // it counts as it is
  }
}

bool is_whole_index(std::string_view body) {
  // The text of a note of work that is done, and of code in data in any version: a head, then a SHA-256 of the rest.
  constexpr std::string_view done = "sabath finished 1\n", code = "sabath code in data ";
  if (body.starts_with(done)) {
    const std::string_view rest = body.substr(done.size());
    if (rest.size() < Sha256::size) return false;
    const Sha256 sum = sha256(rest.substr(Sha256::size));
    return std::memcmp(sum.bytes().data(), rest.data(), Sha256::size) == 0;
  }
  if (body.starts_with(code)) {
    const std::size_t head = body.find('\n');
    const std::string_view rest = body.substr(head == body.npos ? body.size() : head + 1);
    const std::size_t end = rest.find('\n');
    return end != std::string_view::npos && sha256(rest.substr(end + 1)).hex() == rest.substr(0, end);
  }
  std::uint64_t sum = 0;  // of an archive's members: the XXH3 of the rest comes first
  if (body.size() < sizeof sum) return false;
  std::memcpy(&sum, body.data(), sizeof sum);
  return sum == xxh3_64(body.substr(sizeof sum));
}

}  // namespace sabath
