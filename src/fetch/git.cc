#include "fetch/git.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "fetch/at_hand.h"
#include "fetch/lfs_pointer.h"
#include "fetch/publisher.h"
#include "fetch/retry.h"
#include "fetch/team.h"

namespace sabath {
namespace fs = std::filesystem;
namespace {

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_object_name(std::string_view text) { return (text.size() == 40 || text.size() == 64) && is_hexadecimal(text); }

Command git_command(std::vector<std::string> arguments) {
  Command command;
  command.argv = {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "core.symlinks=true",
                  "-c", "fetch.unpackLimit=1", "-c", "transfer.fsckObjects=true", "-c", "advice.detachedHead=false",
                  "-c", "core.attributesFile=/dev/null", "-c", "core.fsmonitor=false",
                  // Nobody is there to answer, and a connection that says nothing for a minute is dead.
                  "-c", "core.sshCommand=ssh -oBatchMode=yes -oServerAliveInterval=20", "-c", "http.lowSpeedLimit=1",
                  "-c", "http.lowSpeedTime=60"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = {{"GIT_TERMINAL_PROMPT", "0"},
                         {"GIT_CONFIG_NOSYSTEM", "1"},
                         {"GIT_CONFIG_GLOBAL", "/dev/null"},
                         {"GIT_ALLOW_PROTOCOL", "https:http:ssh:git:file"},
                         {"GIT_ASKPASS", "true"},
                         {"GIT_DIR", ""},
                         {"GIT_WORK_TREE", ""},
                         {"GIT_INDEX_FILE", ""},
                         {"LC_ALL", "C"}};
  return command;
}

bool says_no_space(const std::string& text) {
  return text.find("no space left") != std::string::npos || text.find("disk quota exceeded") != std::string::npos;
}

Failure classify(const GitSource& git, const std::string& err) {
  const std::string text = to_lower(err);
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  const std::string message =
      fmt::format("git could not read {}: {}", printable(git.origin), printable(std::string(trim(err)), 400));
  if (has("authentication failed") || has("could not read username") || has("permission denied") ||
      has("host key verification failed")) {
    return {FailureKind::access, message,
            "the repository wants a login: clone it by hand and give the clone with --path", std::nullopt};
  }
  if (has("not found") || has("does not exist") || has("not appear to be a git repository") ||
      has("couldn't find remote ref") || has("not our ref")) {
    return {FailureKind::unavailable, message, "check origin, branch, tag or commit in the recipe", std::nullopt};
  }
  return {FailureKind::network, message, "the same command tries again", std::nullopt};
}

std::string run_git(FetchContext& context, const GitSource& git, Command command, bool network) {
  SourceLine& line = context.ledger.line(git.origin);
  if (network) ++line.traffic.requests;
  const CommandResult result = run_command(command, context.stop);
  if (result.status == 0) return result.out;
  Failure failure = classify(git, result.err);
  if (says_no_space(to_lower(result.err))) {
    failure = {FailureKind::space, failure.message, "free some room, or choose another place with --store DIR", {}};
  } else if (!network) {
    failure = {FailureKind::command, failure.message, "", {}};
  }
  if (network) line.failed(failure, false);
  throw Error(failure);
}

std::uint64_t pack_bytes(const fs::path& bare) {
  std::uint64_t sum = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(bare / "objects" / "pack", ignored)) {
    if (entry.path().extension() == ".pack") sum += entry.file_size(ignored);
  }
  return sum;
}

// A shallow clone of just this commit; where the server gives no commit by name, all its branches and tags.
void clone_bare(FetchContext& context, const GitSource& git, const std::string& commit, const fs::path& bare) {
  run_git(context, git, git_command({"init", "--quiet", "--bare", "--template=", bare.string()}), false);
  // The files are had as they were committed: these win over the attributes that the tree itself brings.
  make_directories(bare / "info");
  write_text_atomically(bare / "info" / "attributes", "* -text -crlf !eol -ident -filter -working-tree-encoding\n");
  const auto fetch = [&](std::vector<std::string> what) {
    std::vector<std::string> arguments = {"--git-dir", bare.string(), "fetch", "--quiet", "--no-write-fetch-head"};
    arguments.insert(arguments.end(), what.begin(), what.end());
    run_git(context, git, git_command(arguments), true);
  };
  const auto fetch_all_refs = [&] {
    fetch({"--", git.origin, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"});
  };
  if (!is_object_name(commit)) {  // an abbreviated name can only be looked up among all
    fetch_all_refs();
  } else {
    try {
      fetch({"--depth", "1", "--", git.origin, commit + ":refs/heads/sabath"});
    } catch (const Error& error) {
      const FailureKind kind = error.failure().kind;
      if (verdict(kind) == Verdict::fatal || kind == FailureKind::access) throw;
      fetch_all_refs();
    }
  }
  SourceLine& line = context.ledger.line(git.origin);
  const std::uint64_t bytes = pack_bytes(bare);
  line.traffic.bytes += bytes;
  line.received(bytes);
  line.tell();
}

// The full name of a commit, if the clone holds it with all that it names.
std::optional<std::string> full_name(FetchContext& context, const std::string& commit, const fs::path& bare) {
  const auto ask = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--git-dir", bare.string()});
    return run_command(git_command(arguments), context.stop);
  };
  const auto found = ask({"rev-parse", "--verify", "--quiet", commit + "^{commit}"});
  const std::string name(trim(found.out));
  // A branch may be called like a short commit, and would be found first.
  if (found.status != 0 || !is_object_name(name) || !name.starts_with(commit)) return std::nullopt;
  if (ask({"ls-tree", "-r", "-t", "--name-only", "-z", name}).status != 0) return std::nullopt;
  return name;
}

// A file of the tree whose content is kept by Git LFS.
struct Pointed {
  RelativePath path;
  bool executable = false;
  FileJob job;
};

std::optional<Pointed> try_pointed(const std::string& origin, const fs::directory_entry& entry,
                                   const RelativePath& path, bool executable) {
  if (entry.file_size() >= lfs_pointer_size_max) return std::nullopt;
  const auto pointer = try_parse_lfs_pointer(try_read_text(entry.path(), lfs_pointer_size_max).value_or(""));
  const auto url = pointer ? try_lfs_url(origin, *pointer) : std::nullopt;
  if (!url) return std::nullopt;
  FileJob job;
  job.name = path.text();
  job.urls = {*url};
  job.source = *url;
  job.listed = true;
  job.size_bytes = pointer->size_bytes;
  job.checksum.sha256 = pointer->sha256;
  return Pointed{path, executable, std::move(job)};
}

void take_pointed(FetchContext& context, const std::vector<Pointed>& files, ManifestBuilder& builder) {
  std::vector<FileJob> jobs;
  std::vector<FileTree> trees(files.size());
  std::vector<std::size_t> missing;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileOutcome found;
    if (at_hand(context, files[i].job, true, found)) {
      trees[i] = std::move(found.tree);
      continue;
    }
    jobs.push_back(files[i].job);
    missing.push_back(i);
    bytes += files[i].job.size_bytes.value_or(0);
  }
  context.space.reserve(bytes, jobs.size(), "Git LFS");
  const auto outcomes = fetch_by_all_ranks(context, jobs);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].failure) throw Error(*outcomes[i].failure);
    trees[missing[i]] = outcomes[i].tree;
    context.store.put_alias("sha256", outcomes[i].computed.sha256, outcomes[i].tree.digest);
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    builder.add_file(files[i].path, trees[i].digest, trees[i].chunks, files[i].executable);
}

// Every file of a checked-out tree becomes an object; what LFS keeps is fetched in place of its pointer.
void take_tree(FetchContext& context, const std::string& origin, const fs::path& tree, ManifestBuilder& builder) {
  Publisher publisher(context.store, 1);  // a tree that programs are built and run from is no pack
  std::vector<std::byte> buffer(1 << 20);
  std::vector<Pointed> pointed;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    if (context.stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped");
    const RelativePath path = RelativePath::parse(entry.path().lexically_relative(tree).string());
    if (entry.is_symlink()) {
      builder.add_symlink(path, fs::read_symlink(entry.path()).string());
      continue;
    }
    if (entry.is_directory()) {
      builder.add_directory(path);
      continue;
    }
    const bool executable = (entry.symlink_status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    if (auto found = try_pointed(origin, entry, path, executable)) {
      pointed.push_back(std::move(*found));
      continue;
    }
    const Fd fd = open_file(entry.path(), O_RDONLY | O_NOFOLLOW);
    auto writer = context.store.write_object();
    std::uint64_t offset = 0;
    while (const std::size_t n = read_at(fd.get(), buffer, offset, entry.path())) {
      writer->write(std::span(buffer).first(n));
      offset += n;
    }
    const FileTree& file = writer->finish();
    builder.add_file(path, file.digest, file.chunks, executable);
    context.events.on(event::FileDone{path.text(), file.digest.size_bytes});
    publisher.add(std::move(writer));
  }
  publisher.flush();
  if (!pointed.empty()) take_pointed(context, pointed, builder);
}

// A repository of this machine is a source as any file is: whoever reads the store must be able to read it.
void admit_repository(const Store& store, const std::string& origin) {
  const auto url = Url::try_parse(origin);
  if (!url || url->scheme() != "file") return;
  const fs::path place = percent_decode(url->path());
  const auto admit = [&](const fs::path& path) {
    if (try_stat(path)) store.admit(path, printable(path.native()));
  };
  fs::path git = try_stat(place / "HEAD") ? place : place / ".git";
  if (const auto s = try_stat(git); s && S_ISREG(s->st_mode)) {  // a linked work tree: its repository stands elsewhere
    constexpr std::string_view key = "gitdir: ";
    const std::string text(trim(try_read_text(git, PATH_MAX).value_or("")));
    if (text.starts_with(key)) git = place / text.substr(key.size());
    if (const auto common = try_read_text(git / "commondir", PATH_MAX)) git /= trim(*common);
  }
  admit(git / "HEAD");
  for (const char* name : {"packed-refs", "refs/heads", "objects/pack", "objects/info/alternates"}) admit(git / name);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(git / "objects", error)) admit(entry.path());
  for (const auto& entry : fs::directory_iterator(git / "objects/pack", error)) admit(entry.path());
  std::istringstream others(try_read_text(git / "objects/info/alternates", 64 * 1024).value_or(""));
  for (std::string line; std::getline(others, line);) admit(git / "objects" / line / "pack");
}

}  // namespace

std::string resolve_commit(FetchContext& context, const GitSource& git) {
  if (!git.commit.empty()) {
    if (is_hexadecimal(git.commit) && git.commit.size() >= 7 && git.commit.size() <= 64) return git.commit;
    throw Error(FailureKind::invalid, fmt::format("{} is no commit", printable(git.commit)),
                "a commit is 7 to 64 hexadecimal digits");
  }
  const std::string ref = !git.branch.empty() ? "refs/heads/" + git.branch
                          : !git.tag.empty()  ? "refs/tags/" + git.tag
                                              : "HEAD";
  const std::string out = run_git(context, git, git_command({"ls-remote", "--", git.origin, ref, ref + "^{}"}), true);
  std::string commit;  // of an annotated tag the peeled line comes last, and is the commit
  for (std::size_t begin = 0; begin < out.size();) {
    const std::size_t end = std::min(out.find('\n', begin), out.size());
    const std::string line = out.substr(begin, end - begin);
    const auto tab = std::min(line.find('\t'), line.size());
    // ls-remote also lists what only ends like this: refs/remotes/origin/HEAD.
    const bool meant = line.substr(tab) == "\t" + ref || line.substr(tab) == "\t" + ref + "^{}";
    if (meant && is_object_name(line.substr(0, tab))) commit = line.substr(0, tab);
    begin = end + 1;
  }
  if (commit.empty()) {
    throw Error(FailureKind::unavailable, fmt::format("{} has no {}", printable(git.origin), printable(ref)),
                "check branch or tag in the recipe");
  }
  return commit;
}

std::string fetch_git(FetchContext& context, const GitSource& git, const std::string& asked, ManifestBuilder& builder) {
  admit_repository(context.store, git.origin);
  fs::path bare = context.store.git_directory(sha256("git clone\n" + git.origin + "\n" + asked));
  const fs::path work = context.store.make_temporary_directory();
  std::optional<std::string> commit = try_stat(bare) ? full_name(context, asked, bare) : std::nullopt;
  if (!commit) {  // there is none, or it lost something
    clone_bare(context, git, asked, work / "bare");
    commit = full_name(context, asked, work / "bare");
    if (!commit) {
      throw Error(FailureKind::unavailable, fmt::format("{} has no commit {}", printable(git.origin), printable(asked)),
                  "check the commit in the recipe");
    }
    context.store.members().make_directories(bare.parent_path());
    context.store.members().give_tree(work / "bare");
    const int moved = ::rename(bare.c_str(), (work / "lost").c_str()) == 0 ? 0 : errno;
    if (moved != 0 && moved != ENOENT && moved != EACCES && moved != EPERM) throw_errno("replace", bare, moved);
    // Another process may have been first: its clone serves as well. One that is another user's, and lacks something,
    // stays where it is.
    const bool stays = moved == EACCES || moved == EPERM;
    if (stays || (::rename((work / "bare").c_str(), bare.c_str()) != 0 && !try_stat(bare))) bare = work / "bare";
  }
  static_cast<void>(::utimensat(AT_FDCWD, bare.c_str(), nullptr, 0));  // a collection looks when it was used
  // The clone is bare, and git checks nothing out of such a one without being told where.
  const auto with_tree = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--git-dir", bare.string(), "--work-tree", (work / "tree").string()});
    Command command = git_command(arguments);
    for (auto& [name, value] : command.environment) {
      if (name == "GIT_INDEX_FILE") value = (work / "index").string();
    }
    run_git(context, git, command, false);
  };
  make_directories(work / "tree");
  with_tree({"read-tree", *commit});
  with_tree({"checkout-index", "--all"});
  take_tree(context, git.origin, work / "tree", builder);
  remove_tree(work);
  return *commit;
}

}  // namespace sabath
