#include "packing/tree_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/file.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr int depth_max = 100;

std::string seen(const fs::path& path) { return printable(path.native(), 1000); }

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
    if (names.size() > packed_files_max)
      throw Error(FailureKind::invalid, fmt::format("{} has too many files", seen(directory)));
  }
  if (error) throw_errno("list", directory, error.value());
  std::ranges::sort(names);
  return names;
}

void copy_bytes(const fs::path& from, const fs::path& to, const std::stop_token& stop) {
  const Fd in = open_file(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) throw_errno("stat", from, errno);
  if (!S_ISREG(status.st_mode)) throw Error(FailureKind::changed, fmt::format("{} changed", seen(from)));
  Fd out;
  out = Fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out && errno == EEXIST)
    throw Error(FailureKind::invalid, fmt::format("{} is there twice", seen(from)),
                "the interpreter and the environment each have a file of this name: remove one");
  if (!out) throw_errno("create", to, errno);
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t at = 0;;) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const std::size_t got = read_at(in.get(), buffer, at, from);
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
  for (const std::string& name : names_in(top / below)) {
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
  const auto status = try_lstat(from / below);
  if (!status) return;
  make_directories((to_ / below).parent_path());
  if (S_ISDIR(status->st_mode)) return directory(from, below, leaves_out, 0);
  if (S_ISLNK(status->st_mode)) return link(from, below);
  file(from, below);
}

void TreeCopy::directory(const fs::path& from, const std::string& below, const LeavesOut& leaves_out, int depth) {
  if (depth > depth_max) throw Error(FailureKind::invalid, fmt::format("{} lies too deep", seen(from / below)));
  make_directories(to_ / below);
  ::chmod((to_ / below).c_str(), 0755);
  for (const std::string& name : names_in(from / below)) {
    if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const std::string path = below.empty() ? name : below + "/" + name;
    if (leaves_out(path)) continue;
    const auto status = try_lstat(from / path);
    if (!status)
      throw Error(FailureKind::changed, fmt::format("{} is gone", seen(from / path)),
                  "pack it again when nothing changes it");
    if (S_ISDIR(status->st_mode))
      directory(from, path, leaves_out, depth + 1);
    else if (S_ISLNK(status->st_mode))
      link(from, path);
    else
      file(from, path);
  }
}

void TreeCopy::file(const fs::path& from, const std::string& below) {
  count();
  const fs::path file = from / below;
  const auto status = try_lstat(file);
  if (!status || !S_ISREG(status->st_mode))
    throw Error(FailureKind::invalid, fmt::format("{} is a socket, a pipe or a device", seen(file)), "remove it");
  if (static_cast<std::uint64_t>(status->st_size) > packed_file_bytes_max)
    throw Error(FailureKind::invalid, fmt::format("{} is too large", seen(file)),
                "keep data apart from the environment");
  copy_bytes(file, to_ / below, stop_);
}

void TreeCopy::link(const fs::path& from, const std::string& below) {
  count();
  const fs::path origin = from / below;
  std::error_code error;
  fs::path target = fs::read_symlink(origin, error);
  if (error) throw_errno("read the link", origin, error.value());
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
