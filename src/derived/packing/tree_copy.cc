#include "packing/tree_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr int depth_max = 100;

std::string seen(const fs::path& path) { return printable(path.native(), 1000); }

[[noreturn]] void refuse_changed(const fs::path& path) {
  throw Error(FailureKind::changed, fmt::format("{} changed", seen(path)), "pack it again when nothing changes it");
}

// Takes the open folder.
std::vector<std::string> names_in(Fd folder, const fs::path& shown) {
  const std::unique_ptr<DIR, int (*)(DIR*)> at(::fdopendir(folder.get()), ::closedir);
  if (!at) throw_errno("list", shown, errno);
  folder.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(at.get());
    if (entry == nullptr && errno != 0) throw_errno("list", shown, errno);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    names.emplace_back(name);
    if (names.size() > packed_files_max)
      throw Error(FailureKind::invalid, fmt::format("{} has too many files", seen(shown)));
  }
  std::ranges::sort(names);
  return names;
}

Fd step_into(int folder, const std::string& name, const fs::path& shown) {
  Fd next(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!next && (errno == ELOOP || errno == ENOTDIR || errno == ENOENT)) refuse_changed(shown);
  if (!next) throw_errno("open", shown, errno);
  return next;
}

// A folder by its whole path, in which no part is a symlink. Those above may be open for passage alone.
Fd open_whole(const fs::path& path) {
  Fd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  fs::path shown = "/";
  for (const fs::path& part : path.relative_path()) {
    shown /= part;
    Fd next(::openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next && (errno == ELOOP || errno == ENOTDIR || errno == ENOENT)) refuse_changed(shown);
    if (!next) throw_errno("open", shown, errno);
    at = std::move(next);
  }
  return step_into(at.get(), ".", path);
}

std::optional<struct stat> status_in(int folder, const std::string& name, const fs::path& shown) {
  struct stat status {};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  throw_errno("stat", shown, errno);
}

void copy_bytes(int in, const struct stat& status, const fs::path& from, const fs::path& to,
                const std::stop_token& stop) {
  Fd out;
  out = Fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out && errno == EEXIST)
    throw Error(FailureKind::invalid, fmt::format("{} is there twice", seen(from)),
                "the interpreter and the environment each have a file of this name: remove one");
  if (!out) throw_errno("create", to, errno);
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t at = 0;;) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const std::size_t got = read_at(in, buffer, at, from);
    if (got == 0) break;
    at += got;
    if (at > packed_file_bytes_max) throw Error(FailureKind::invalid, fmt::format("{} is too large", seen(from)));
    write_all(out.get(), std::span(buffer).first(got), to);
  }
  if (::fchmod(out.get(), (status.st_mode & S_IXUSR) != 0 ? 0755 : 0644) != 0) throw_errno("chmod", to, errno);
  close_file(std::move(out), to);
}

void visit_files(const fs::path& top, const std::string& below, int depth,
                 const std::function<void(const std::string& path)>& visit) {
  for (const std::string& name : names_in(open_file(top / below, O_RDONLY | O_DIRECTORY), top / below)) {
    const std::string path = below.empty() ? name : below + "/" + name;
    const auto status = try_lstat(top / path);
    if (!status) continue;
    if (S_ISDIR(status->st_mode) && depth < depth_max) visit_files(top, path, depth + 1, visit);
    if (S_ISREG(status->st_mode)) visit(path);
  }
}

}  // namespace

void for_each_packed_file(const fs::path& top, const std::function<void(const std::string& path)>& visit) {
  visit_files(top, "", 0, visit);
}

void TreeCopy::count() {
  if (++files_ > packed_files_max)
    throw Error(FailureKind::invalid, fmt::format("it has more than {} files", packed_files_max));
}

void TreeCopy::add(const fs::path& from, const std::string& below, const LeavesOut& leaves_out) {
  Fd folder = open_whole(from);
  make_directories((to_ / below).parent_path());
  if (below.empty()) return directory(folder.get(), from, below, leaves_out, 0);
  const fs::path way(below);
  fs::path shown = from;
  for (const fs::path& part : way.parent_path()) {
    shown /= part;
    const auto status = status_in(folder.get(), part, shown);
    if (!status) return;
    if (S_ISLNK(status->st_mode))
      throw Error(FailureKind::invalid, fmt::format("{} is a symlink", seen(shown)), "put the folder itself there");
    folder = step_into(folder.get(), part, shown);
  }
  if (!status_in(folder.get(), way.filename(), from / below)) return;
  take({folder.get(), way.filename(), from, below}, leaves_out, 0);
}

void TreeCopy::take(const Source& source, const LeavesOut& leaves_out, int depth) {
  const fs::path shown = source.from / source.below;
  const auto status = status_in(source.folder, source.name, shown);
  if (!status)
    throw Error(FailureKind::changed, fmt::format("{} is gone", seen(shown)), "pack it again when nothing changes it");
  if (S_ISDIR(status->st_mode)) {
    const Fd open = step_into(source.folder, source.name, shown);
    directory(open.get(), source.from, source.below, leaves_out, depth);
  } else if (S_ISLNK(status->st_mode)) {
    link(source);
  } else {
    file(source);
  }
}

void TreeCopy::directory(int open, const fs::path& from, const std::string& below, const LeavesOut& leaves_out,
                         int depth) {
  if (depth > depth_max) throw Error(FailureKind::invalid, fmt::format("{} lies too deep", seen(from / below)));
  make_directories(to_ / below);
  ::chmod((to_ / below).c_str(), 0755);
  for (const std::string& name : names_in(step_into(open, ".", from / below), from / below)) {
    if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const std::string path = below.empty() ? name : below + "/" + name;
    if (!leaves_out(path)) take({open, name, from, path}, leaves_out, depth + 1);
  }
}

void TreeCopy::file(const Source& source) {
  count();
  const fs::path shown = source.from / source.below;
  const auto refuse = [&](const char* why, const char* remedy) {
    throw Error(FailureKind::invalid, fmt::format("{} is {}", seen(shown), why), remedy);
  };
  const auto before = status_in(source.folder, source.name, shown);
  if (!before || !S_ISREG(before->st_mode)) refuse("a socket, a pipe or a device", "remove it");
  const Fd in(::openat(source.folder, source.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!in && (errno == ELOOP || errno == ENOENT)) refuse_changed(shown);
  if (!in) throw_errno("open", shown, errno);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) throw_errno("stat", shown, errno);
  if (!S_ISREG(status.st_mode)) refuse_changed(shown);
  if (static_cast<std::uint64_t>(status.st_size) > packed_file_bytes_max)
    refuse("too large", "keep data apart from the environment");
  if (admit_) admit_(fmt::format("/proc/self/fd/{}", in.get()), seen(shown));
  copy_bytes(in.get(), status, shown, to_ / source.below, stop_);
}

void TreeCopy::link(const Source& source) {
  count();
  const std::string& below = source.below;
  const fs::path origin = source.from / below;
  std::string word(4096, '\0');
  const ssize_t got = ::readlinkat(source.folder, source.name.c_str(), word.data(), word.size());
  if (got < 0 || static_cast<std::size_t>(got) == word.size())
    throw_errno("read the link", origin, got < 0 ? errno : ENAMETOOLONG);
  word.resize(static_cast<std::size_t>(got));
  fs::path target = word;
  const auto refuse = [&] {
    throw Error(FailureKind::invalid,
                fmt::format("{} is a symlink to {}, outside of the environment", seen(origin), seen(target)),
                "put the file itself there (uv: link-mode copy)");
  };
  if (target.is_absolute()) {
    const auto inside = std::ranges::find_if(
        places_, [&](const fs::path& place) { return is_below(target.lexically_normal(), place); });
    if (inside == places_.end()) refuse();
    const fs::path place = target.lexically_normal().lexically_relative(*inside);
    target =
        place.lexically_relative(fs::path(below).parent_path().empty() ? fs::path(".") : fs::path(below).parent_path());
  }
  const std::string stays = (fs::path(below).parent_path() / target).lexically_normal();
  if (stays.starts_with("..") || stays.starts_with("/")) refuse();
  if (::symlink(target.c_str(), (to_ / below).c_str()) != 0) throw_errno("link", to_ / below, errno);
  links_.push_back({below, origin});
}

void TreeCopy::finish() {
  const fs::path top = fs::canonical(to_);
  bool changed = true;
  while (changed) {  // a link to a link that is removed
    changed = false;
    std::erase_if(links_, [&](const Link& each) {
      std::error_code error, unknown;
      const fs::path leads_to = fs::canonical(to_ / each.path, error), led_to = fs::canonical(each.origin, unknown);
      if (unknown)
        throw Error(FailureKind::invalid, fmt::format("{} is a symlink that leads nowhere", seen(each.origin)),
                    "remove it");
      const auto holds = [&](const fs::path& place) { return is_below(led_to, place); };
      if ((!error && !is_below(leads_to, top)) || std::ranges::none_of(places_, holds))
        throw Error(FailureKind::invalid,
                    fmt::format("{} leads outside of the environment, by other symlinks", seen(each.origin)),
                    "put the file itself there");
      if (!error) return false;
      ::unlink((to_ / each.path).c_str());
      return changed = true;
    });
  }
}

}  // namespace sabath
