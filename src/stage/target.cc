#include "stage/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <random>
#include <system_error>

#include "base/file.h"
#include "comm/agree.h"
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

void try_writing(const fs::path& directory) {
  make_directories(directory);
  const fs::path probe = directory / fmt::format(".sabath-probe.{}", ::getpid());
  const Fd fd = open_file(probe, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::unlink(probe.c_str());
}

}  // namespace

fs::path expand_target(const std::string& pattern, const Comm& comm) {
  std::string text = pattern;
  replace_all(text, "{node}", std::to_string(comm.node()));
  replace_all(text, "{rank}", std::to_string(comm.rank()));
  if (text.empty() || text.find_first_of("{}") != std::string::npos) {
    throw Error(FailureKind::usage, fmt::format("--to {} is no directory", printable(pattern)),
                "only {node} and {rank} stand for something, e.g. --to /local/$USER or --to 'DIR/{node}'");
  }
  return fs::absolute(text).lexically_normal();
}

fs::path choose_target(const std::vector<std::string>& patterns, const Comm& comm) {
  std::string reasons;
  for (const auto& pattern : patterns) {
    const fs::path directory = expand_target(pattern, comm);
    const auto failure = failure_of([&] { try_writing(directory); });
    if (!failure) return directory;
    if (patterns.size() == 1) throw Error(*failure);
    reasons += (reasons.empty() ? "" : "; ") + failure->message;
  }
  throw Error(FailureKind::storage, fmt::format("no directory for staged content: {}", reasons),
              "name one of this node's own disks with --to");
}

unsigned owner_of_target(Comm& leaders, const fs::path& directory) {
  std::string nonce;
  if (leaders.rank() == 0) nonce = fmt::format("{:08x}{:08x}", std::random_device{}(), std::random_device{}());
  leaders.broadcast(nonce, 0);
  const auto token = [&](unsigned rank) { return directory / fmt::format(".sabath-token.{}.{}", nonce, rank); };
  const Fd mine = open_file(token(leaders.rank()), O_WRONLY | O_CREAT | O_EXCL, 0600);
  leaders.barrier();
  unsigned owner = leaders.rank();
  const std::string prefix = fmt::format(".sabath-token.{}.", nonce);
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().native();
    if (name.starts_with(prefix))
      owner = std::min(owner, static_cast<unsigned>(std::stoul(name.substr(prefix.size()))));
  }
  leaders.barrier();
  ::unlink(token(leaders.rank()).c_str());
  return owner;
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
