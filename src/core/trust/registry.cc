#include "trust/registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "base/clock.h"
#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".json";
constexpr std::uint64_t file_size_max = 64 * 1024;
constexpr std::size_t entries_max = 10'000, commands_max = 32, text_bytes_max = 1000;

bool is_id(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The decision that would be made about it. A recipe of others is part of what is decided about: its commands are
// theirs.
TrustEntry entry_of(const AssetCode& code, TrustScope scope) {
  const bool exact = scope == TrustScope::commit;
  TrustEntry entry{.id = {},
                   .scope = scope,
                   .name = code.name,
                   .recipe = code.recipe_of == Ownership::others ? code.recipe : "",
                   .origin = code.origin,
                   .commit = exact ? code.commit : "",
                   .digest = exact ? code.digest : Sha256{},
                   .commands = {}};
  entry.id = id_of(entry);
  return entry;
}

// The whole file, if it is this user's alone to write.
std::optional<std::string> try_read_own(const fs::path& path, std::string& doubt) {
  const auto named = try_lstat(path);
  if (!named) return std::nullopt;
  const std::string shown = printable(path.native(), 1000);
  const auto file = S_ISREG(named->st_mode) ? try_open_file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW) : std::nullopt;
  struct stat opened {};
  if (!file || ::fstat(file->get(), &opened) != 0 || !S_ISREG(opened.st_mode)) {
    doubt = fmt::format("{} is no regular file", shown);
  } else if ((opened.st_uid != ::geteuid() && opened.st_uid != 0) || ownership_of(path) == Ownership::others) {
    doubt = fmt::format("{} does not count: others may write it, or its directory", shown);
  } else if (static_cast<std::uint64_t>(opened.st_size) > file_size_max) {
    doubt = fmt::format("{} is longer than {} bytes", shown, file_size_max);
  } else {
    std::string text(static_cast<std::size_t>(opened.st_size), '\0');
    text.resize(read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path));
    return text;
  }
  return std::nullopt;
}

std::string cut(const std::string& text) { return printable(text, text_bytes_max); }

}  // namespace

TrustRegistry::TrustRegistry(fs::path directory) : directory_(std::move(directory)) {}

fs::path TrustRegistry::file_of(const std::string& id) const { return directory_ / (id + std::string(ending)); }

TrustRegistry::Found TrustRegistry::read(const std::string& id) const {
  Found found;
  try {
    if (const auto text = try_read_own(file_of(id), found.doubt))
      found.entry = parse_trust_entry(*text, file_of(id).native(), id);
  } catch (const Error& error) {  // a file that cannot be read is no decision
    found.doubt = error.failure().message;
  }
  return found;
}

TrustRegistry::Found TrustRegistry::find(const AssetCode& code) const {
  if (directory_.empty()) return {};
  Found exact = read(entry_of(code, TrustScope::commit).id);
  if (exact.entry || code.origin.empty() || code.subscribed) return exact;
  Found wide = read(entry_of(code, TrustScope::origin).id);
  if (wide.doubt.empty()) wide.doubt = std::move(exact.doubt);
  return wide;
}

TrustEntry TrustRegistry::add(const AssetCode& code, TrustScope scope) const {
  if (directory_.empty()) {
    throw Error(FailureKind::usage, "there is no place to keep what you trust: HOME is not set",
                "set HOME or XDG_CONFIG_HOME, or trust it once");
  }
  TrustEntry entry = entry_of(code, scope);
  entry.since = static_cast<std::uint64_t>(unix_seconds());
  for (const std::string& command : code.commands) {
    if (entry.commands.size() < commands_max) entry.commands.push_back(cut(command));
  }
  if (!try_stat(directory_)) {
    make_directories(directory_);
    fs::permissions(directory_, fs::perms::owner_all);
  }
  write_text_atomically(file_of(entry.id), text_of(entry), 0600, true);
  const Found kept = read(entry.id);
  if (!kept.entry) {  // it would ask again and again
    throw Error(
        FailureKind::access, fmt::format("what you trust cannot be kept: {}", kept.doubt),
        fmt::format("give {} to yourself alone: chmod go-w, also above it", printable(directory_.native(), 1000)));
  }
  return entry;
}

std::vector<TrustEntry> TrustRegistry::all(std::vector<std::string>& doubts) const {
  std::vector<TrustEntry> entries;
  std::size_t seen = 0;
  std::error_code error;
  fs::directory_iterator it(directory_, error);
  for (const fs::directory_iterator end; !directory_.empty() && !error && it != end; it.increment(error)) {
    if (++seen > entries_max) {
      doubts.push_back(fmt::format("{} has more than {} files: the others are not shown",
                                   printable(directory_.native(), 1000), entries_max));
      break;
    }
    if (it->path().extension() != ending) continue;  // one that is being written
    if (!is_id(it->path().stem().native())) {
      doubts.push_back(fmt::format("{} is no decision", printable(it->path().native(), 1000)));
      continue;
    }
    Found found = read(it->path().stem().native());
    if (found.entry) entries.push_back(std::move(*found.entry));
    if (!found.doubt.empty()) doubts.push_back(std::move(found.doubt));
  }
  if (error && error != std::errc::no_such_file_or_directory) throw_errno("list", directory_, error.value());
  std::ranges::sort(entries, {}, [](const TrustEntry& entry) { return std::tie(entry.name, entry.id); });
  std::ranges::sort(doubts);
  return entries;
}

bool TrustRegistry::remove(const std::string& id) const {
  if (!is_id(id)) throw Error(FailureKind::internal, "no id of a decision");
  if (::unlink(file_of(id).c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  throw_errno("remove", file_of(id), errno);
}

}  // namespace sabath
