#include "ftp/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t line_length_max = 8192;

[[noreturn]] void refuse_line(const Url& directory, std::string_view line) {
  throw Error(FailureKind::invalid, fmt::format("the listing of {} is refused: this is no entry: \"{}\"",
                                                directory.display(), printable(line)));
}

// The next word and the blanks before it; "" at the end.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

template <typename Take>
std::vector<DirectoryEntry> entry_of_each_line(std::string_view text, const Url& directory, Take take) {
  std::vector<DirectoryEntry> entries;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > line_length_max) refuse_line(directory, line);
    if (auto entry = line.empty() ? std::nullopt : take(line)) entries.push_back(std::move(*entry));
  }
  return entries;
}

// "drwxr-xr-x 2 owner group 4096 Nov 21 12:00 name"; a symlink's name ends in " -> target".
std::optional<DirectoryEntry> unix_entry(std::string_view line, const Url& directory) {
  std::string_view rest = line;
  const std::string_view mode = take_word(rest);
  const bool special = mode.starts_with('b') || mode.starts_with('c') || mode.starts_with('p') || mode.starts_with('s');
  if (special) return std::nullopt;  // no data
  for (int i = 0; i < 3; ++i) {
    if (take_word(rest).empty()) refuse_line(directory, line);
  }
  const auto size = try_whole_number(take_word(rest));
  for (int i = 0; i < 3; ++i) {
    if (take_word(rest).empty()) refuse_line(directory, line);
  }
  if (!size || rest.size() < 2) refuse_line(directory, line);
  DirectoryEntry entry{.name = std::string(rest.substr(1)), .is_directory = mode[0] == 'd', .size_bytes = {}};
  if (mode[0] == 'l') {
    const std::size_t arrow = std::min(entry.name.find(" -> "), entry.name.size());
    entry.stands_for = entry.name.substr(std::min(arrow + 4, entry.name.size()));
    entry.name.resize(arrow);
  } else if (mode[0] == '-') {
    entry.size_bytes = size;
  } else if (mode[0] != 'd') {
    refuse_line(directory, line);
  }
  if (entry.is_directory && (entry.name == "." || entry.name == "..")) return std::nullopt;
  return entry;
}

// "11-21-26  12:00PM       <DIR>          name"
std::optional<DirectoryEntry> dos_entry(std::string_view line, const Url& directory) {
  std::string_view rest = line;
  static_cast<void>(take_word(rest));
  static_cast<void>(take_word(rest));
  const std::string_view size = take_word(rest);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool is_directory = size == "<DIR>";
  if (rest.empty() || (!is_directory && !try_whole_number(size))) refuse_line(directory, line);
  return DirectoryEntry{std::string(rest), is_directory, is_directory ? std::nullopt : try_whole_number(size)};
}

// Not every server follows links. A link to an entry beside it is taken as that directory, or as that file under
// another name. Where any other link leads is not known.
void follow_links(std::vector<DirectoryEntry>& entries) {
  std::unordered_map<std::string, DirectoryEntry> known;
  for (const auto& entry : entries) {
    if (entry.stands_for.empty()) known.emplace(entry.name, entry);
  }
  for (auto& entry : entries) {
    if (entry.stands_for.starts_with("./")) entry.stands_for.erase(0, 2);
    if (entry.stands_for.ends_with('/')) entry.stands_for.pop_back();
    const auto found = known.find(std::exchange(entry.stands_for, {}));
    if (found == known.end()) continue;
    entry.is_directory = found->second.is_directory;
    entry.size_bytes = found->second.size_bytes;
    if (!entry.is_directory) entry.stands_for = found->first;
  }
}

}  // namespace

std::vector<DirectoryEntry> parse_mlsd(std::string_view text, const Url& directory) {
  return entry_of_each_line(text, directory, [&](std::string_view line) -> std::optional<DirectoryEntry> {
    const std::size_t blank = line.find(' ');
    if (blank == line.npos || blank + 1 == line.size()) refuse_line(directory, line);
    DirectoryEntry entry{.name = std::string(line.substr(blank + 1)), .is_directory = false, .size_bytes = {}};
    std::string type;
    for (std::string_view facts = line.substr(0, blank); !facts.empty();) {
      const std::string_view fact = facts.substr(0, facts.find(';'));
      facts.remove_prefix(std::min(fact.size() + 1, facts.size()));
      const std::string name = to_lower(fact.substr(0, fact.find('=')));
      const std::string_view value = fact.substr(std::min(fact.size(), name.size() + 1));
      if (name == "type") type = to_lower(value);
      if (name == "size") entry.size_bytes = try_whole_number(value);
    }
    if (type == "cdir" || type == "pdir") return std::nullopt;
    entry.is_directory = type == "dir";
    if (type != "file") entry.size_bytes.reset();
    return entry;
  });
}

std::vector<DirectoryEntry> parse_list(std::string_view text, const Url& directory) {
  auto entries = entry_of_each_line(text, directory, [&](std::string_view line) -> std::optional<DirectoryEntry> {
    if (line.starts_with("total ")) return std::nullopt;
    if (line[0] >= '0' && line[0] <= '9') return dos_entry(line, directory);
    return unix_entry(line, directory);
  });
  follow_links(entries);
  return entries;
}

}  // namespace sabath
