#include "run/source_copy.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/disk/clone.h"
#include "store/submodule_clones.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t entries_max = 1'000'000;

void copy_one(const fs::path& from, const fs::path& to) {
  const Fd in = open_file(from, O_RDONLY);  // an adopted file of the store is a symlink to its place
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) throw_errno("stat", from, errno);
  const mode_t mode = (status.st_mode & S_IXUSR) != 0 ? 0777 : 0666;
  Fd out = open_file(to, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!try_clone(in.get(), out.get(), to)) {
    read_through(in.get(), from, [&](std::span<const std::byte> bytes) { write_all(out.get(), bytes, to); });
  }
  close_file(std::move(out), to);
}

void git(const fs::path& directory, const std::vector<std::string>& arguments, const std::stop_token& stop) {
  Command command;
  command.argv = {"git", "--git-dir", directory.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = {{"GIT_CONFIG_NOSYSTEM", "1"},
                         {"GIT_CONFIG_GLOBAL", "/dev/null"},
                         {"GIT_DIR", ""},
                         {"GIT_WORK_TREE", ""},
                         {"GIT_INDEX_FILE", ""},
                         {"LC_ALL", "C"}};
  const CommandResult result = run_command(command, stop);
  if (result.status == 0) return;
  throw Error(FailureKind::command, fmt::format("cannot give the run's source its repository: git {}: {}", arguments[0],
                                                printable(trim(result.err), 400)));
}

struct WorkTree {
  fs::path files, directory;  // the second is git's own
};

// A submodule's repository lies inside the repository of the tree that names it, as git puts it there.
void make_repository(const WorkTree& tree, const fs::path& bare, const std::string& commit, const std::string& origin,
                     const std::stop_token& stop) {
  copy_source(bare, tree.directory, stop);
  remove_tree(tree.directory / "hooks");
  git(tree.directory, {"config", "core.bare", "false"}, stop);
  git(tree.directory, {"config", "core.hooksPath", "/dev/null"}, stop);
  git(tree.directory, {"config", "remote.origin.url", origin}, stop);
  git(tree.directory, {"update-ref", "--no-deref", "HEAD", commit}, stop);
  git(tree.directory, {"read-tree", "HEAD"}, stop);
  for (const SubmoduleClone& part : read_submodule_clones(bare)) {
    const WorkTree inner{tree.files / part.path, tree.directory / "modules" / part.path};
    if (!try_stat(inner.files)) continue;
    make_repository(inner, part.clone, part.commit, part.origin, stop);
    git(inner.directory, {"config", "core.worktree", inner.files.lexically_relative(inner.directory).string()}, stop);
    const fs::path link = inner.directory.lexically_relative(inner.files);
    write_text_atomically(inner.files / ".git", "gitdir: " + link.string() + "\n");
  }
}

}  // namespace

void copy_source(const fs::path& from, const fs::path& to, const std::stop_token& stop) {
  make_directories(to);
  std::size_t entries = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while the source was copied");
    if (++entries > entries_max) {
      throw Error(FailureKind::invalid, fmt::format("{} has more than {} entries", from.string(), entries_max));
    }
    const fs::path relative = it->path().lexically_relative(from);
    const fs::path target = to / relative;
    const fs::file_type type = it->symlink_status().type();
    if (type == fs::file_type::directory) {
      make_directories(target);
    } else if (type == fs::file_type::regular) {
      copy_one(it->path(), target);
    } else if (type == fs::file_type::symlink) {
      const fs::path link = fs::read_symlink(it->path());
      if (link.is_absolute()) {
        copy_one(it->path(), target);
      } else if (symlink_stays_inside(RelativePath::parse(relative.string()), link.string())) {
        fs::create_symlink(link, target);
      } else {
        throw Error(FailureKind::invalid, fmt::format("{} leads out of the source", printable(relative.string())));
      }
    } else {
      throw Error(FailureKind::invalid,
                  fmt::format("{} is neither a file nor a directory", printable(relative.string())));
    }
  }
  if (error) throw_errno("copy", from, error.value());
}

void add_repository(const fs::path& source, const fs::path& bare, const std::string& commit, const std::string& origin,
                    const std::stop_token& stop) {
  const fs::path directory = source / ".git";
  if (!try_lstat(directory)) make_repository({source, directory}, bare, commit, origin, stop);
}

}  // namespace sabath
