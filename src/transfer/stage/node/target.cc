#include "stage/node/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <random>
#include <system_error>

#include "base/file.h"
#include "base/ownership.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "comm/agree.h"
#include "machine/filesystem_kind.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

std::vector<std::string> split(const std::string& pattern) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != ',') {
      parts.back() += pattern[i];
    } else if (i + 1 < pattern.size() && pattern[i + 1] == ',') {
      parts.back() += pattern[i++];
    } else {
      parts.emplace_back();
    }
  }
  return parts;
}

fs::path expand_one(const std::string& pattern, const Comm& comm) {
  std::string text = pattern;
  replace_all(text, "{node}", std::to_string(comm.node()));
  replace_all(text, "{rank}", std::to_string(comm.rank()));
  if (text.empty() || text.find_first_of("{}") != std::string::npos) {
    throw Error(FailureKind::usage, fmt::format("{} {} is no directory", option_text("to"), printable(pattern)),
                fmt::format("only {{node}} and {{rank}} are placeholders, e.g. {0} /local/$USER or {0} 'DIR/{{node}}'",
                            option_text("to")));
  }
  return absolute_path(text);
}

void try_writing(const fs::path& directory) {
  make_directories(directory);
  const fs::path probe = directory / fmt::format(".sabath-probe.{}", ::getpid());
  const Fd fd = open_file(probe, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::unlink(probe.c_str());
}

// A place that no user has named may have been made, or be a link, by another account: below /tmp its name is no
// secret.
void take_own(const fs::path& named) {
  const fs::path directory = named.has_filename() ? named : named.parent_path();
  const std::string name = directory.filename().native();
  make_directories(directory.parent_path());
  const Fd above = open_file(directory.parent_path(), O_PATH | O_DIRECTORY);
  if (::mkdirat(above.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
    throw_errno("make directory", directory, errno);
  const Fd own(::openat(above.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!own) throw_errno("open, as a directory and no symlink,", directory, errno);
  if (const auto why = why_not_own(directory)) {
    throw Error(FailureKind::storage,
                fmt::format("{} is not taken, as it is not yours alone: {}", printable(directory.native()), *why),
                "name a directory with " + option_text("to"));
  }
}

// On one filesystem the room would be counted twice, and nothing be quicker; mostly a disk is not mounted.
void check_filesystems(const Directories& directories) {
  std::map<dev_t, fs::path> known;
  for (const auto& directory : directories) {
    const auto there = try_stat(directory);
    if (!there) throw_errno("look at", directory, ENOENT);
    const auto [other, fresh] = known.try_emplace(there->st_dev, directory);
    if (fresh) continue;
    throw Error(FailureKind::storage,
                fmt::format("{} and {} are on one filesystem", printable(other->second.native()),
                            printable(directory.native())),
                "see that each disk is mounted, and name each once");
  }
}

unsigned lowest_token(const fs::path& directory, const std::string& prefix, unsigned lowest) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    if (name.starts_with(prefix))
      lowest = std::min(lowest, static_cast<unsigned>(std::stoul(name.substr(prefix.size()))));
  }
  return lowest;
}

}  // namespace

Directories expand_target(const std::string& pattern, const Comm& comm) {
  Directories directories;
  const auto parts = split(pattern);
  for (const std::string& part : parts) {
    if (parts.size() > 1 && !fs::path(part).is_absolute()) {  // perhaps it was no list
      throw Error(FailureKind::usage,
                  fmt::format("{} {}: {} is no absolute path", option_text("to"), printable(pattern), printable(part)),
                  "a comma separates directories that are used together; in a name it is written twice: ,,");
    }
    directories.push_back(expand_one(part, comm));
    if (std::ranges::count(directories, directories.back()) > 1) {
      throw Error(FailureKind::usage,
                  fmt::format("{} {} names {} twice", option_text("to"), printable(pattern), printable(part)));
    }
  }
  return directories;
}

Directories choose_target(const StageRequest& request, const Comm& comm) {
  std::string reasons;
  for (const auto& pattern : request.to) {
    const Directories directories = expand_target(pattern, comm);
    const auto failure = failure_of([&] {
      if (request.guessed) std::ranges::for_each(directories, take_own);
      std::ranges::for_each(directories, try_writing);
      check_filesystems(directories);
    });
    if (!failure) return directories;
    if (request.to.size() == 1) throw Error(*failure);
    reasons += (reasons.empty() ? "" : "; ") + failure->message;
  }
  throw Error(FailureKind::storage, fmt::format("no directory for staged content: {}", reasons),
              "name one of this node's own disks with " + option_text("to"));
}

TargetOwner owner_of_target(Comm& leaders, const Directories& directories) {
  std::string nonce;
  if (leaders.rank() == 0) nonce = fmt::format("{:08x}{:08x}", std::random_device{}(), std::random_device{}());
  leaders.broadcast(nonce, 0);
  const std::string prefix = fmt::format(".sabath-token.{}.", nonce);
  const auto token = [&](const fs::path& directory) { return directory / fmt::format("{}{}", prefix, leaders.rank()); };
  for (const auto& directory : directories) {
    const Fd mine = open_file(token(directory), O_WRONLY | O_CREAT | O_EXCL, 0600);
  }
  leaders.barrier();
  std::vector<unsigned> owners;
  for (const auto& directory : directories) owners.push_back(lowest_token(directory, prefix, leaders.rank()));
  leaders.barrier();
  for (const auto& directory : directories) ::unlink(token(directory).c_str());
  const bool of_all = std::ranges::count(owners, owners.front()) == std::ssize(owners);
  return {of_all ? owners.front() : leaders.rank(), of_all};
}

void warn_of_memory(const Directories& directories, const std::string& asset, std::uint64_t bytes, EventSink& events) {
  for (const auto& directory : directories) {
    struct statfs about {};
    if (::statfs(directory.c_str(), &about) != 0) continue;
    if (!filesystem_kind(static_cast<unsigned long>(about.f_type)).in_memory) continue;
    events.on(event::Warning{
        fmt::format("{} is memory: the {} of {} count against the memory of the job; {} DIR names a place on a disk",
                    printable(directory.native(), 4096), format_bytes(bytes), printable(asset), option_text("to"))});
  }
}

void show_view(const fs::path& directory, const std::string& name, const fs::path& view) {
  const fs::path shown = directory / name;
  const auto there = try_lstat(shown);
  if (there && !S_ISLNK(there->st_mode)) {
    throw Error(FailureKind::storage,
                fmt::format("{} is in the way: it is no view of SABATH", printable(shown.native())),
                "move it away, or stage to another directory");
  }
  const fs::path target = view.lexically_relative(directory);
  std::error_code error;
  if (there && fs::read_symlink(shown, error) == target && !error) return;
  const fs::path fresh = directory / fmt::format(".sabath-view.{}.{}", name, ::getpid());
  ::unlink(fresh.c_str());
  if (::symlink(target.c_str(), fresh.c_str()) != 0) throw_errno("make a symlink at", fresh, errno);
  rename_path(fresh, shown);
}

}  // namespace sabath
