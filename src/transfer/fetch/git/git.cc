#include "fetch/git/git.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/ownership.h"
#include "base/process.h"
#include "base/reach.h"
#include "base/text.h"
#include "base/wording.h"
#include "fetch/decide/retry.h"
#include "fetch/decide/rewrite.h"
#include "fetch/git/git_program.h"
#include "fetch/git/git_tree.h"
#include "fetch/git/submodule.h"
#include "fetch/hosts/guarded_sink.h"
#include "store/clones.h"
#include "store/named_file.h"
#include "store/store.h"
#include "store/submodule_clones.h"

namespace sabath {
namespace fs = std::filesystem;
namespace {

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_object_name(std::string_view text) { return (text.size() == 40 || text.size() == 64) && is_hexadecimal(text); }

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
  const std::string format = commit.size() == 64 ? "sha256" : "sha1";
  run_git(context, git,
          git_command({"init", "--quiet", "--bare", "--template=", "--object-format=" + format, bare.string()}), false);
  // Files are checked out as they were committed: these settings win over the attributes of the tree itself.
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
      const bool no_other_way = kind == FailureKind::access || kind == FailureKind::invalid;
      if ((verdict(kind) == Verdict::fatal && kind != FailureKind::command) || no_other_way) throw;
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

// Where a repository has moved to: asked by our own requests, which no server can lead nearer than itself. nullopt: its
// server does not redirect.
std::optional<GitSource> moved_to(FetchContext& context, const GitSource& git, const Failure& failure) {
  constexpr std::string_view what = "/info/refs";
  const auto url = Url::try_parse(fmt::format("{}{}?service=git-upload-pack", git.origin, what));
  if (!url || failure.message.find("returned error: 30") == std::string::npos) return std::nullopt;
  const Url asked = url->named_by(git.namer);
  ContentInfo found;
  SourceLine& line = context.ledger.line(git.origin);
  GuardedSink sink(
      context, line, asked, std::nullopt, [&](const ContentInfo& info) { found = info; }, [](auto) {});
  read_source(context, {asked, 0, 1, {}}, line, sink);
  const auto there = Url::try_parse(found.final_url);
  if (!there || !found.final_url.ends_with(what)) return std::nullopt;
  GitSource moved = git;
  moved.origin = found.final_url.substr(0, found.final_url.size() - what.size());
  add_namer(moved.namer,
            Namer{.reach = found.reach.value_or(Reach::global), .own_host = there->host() == asked.host()});
  check_submodule(git.origin, moved.origin);
  return moved;
}

// `act` with the repository, or with what it has moved to.
void where_it_is(FetchContext& context, const GitSource& git, const std::function<void(const GitSource&)>& act) {
  try {
    return act(git);
  } catch (const Error& error) {
    const auto moved = moved_to(context, git, error.failure());
    if (!moved) throw;
    act(*moved);
  }
}

// How near the repository is, for what it names: by the addresses that our own requests and git were led to.
Namer namer_of(FetchContext& context, const GitSource& git) {
  if (const fs::path place = local_path(git.origin); !place.empty())
    return {.reach = Reach::host, .user = other_writer(place)};
  const auto url = url_of(git);
  const unsigned reaches = context.ledger.line(git.origin).traffic.reaches;
  if (reaches != 0) return {.reach = static_cast<Reach>(std::countr_zero(reaches))};
  return {.reach = url ? reach_of(*url) : Reach::global};
}

using Admit = std::function<void(const fs::path&)>;

// With those that it borrows from, as deep as git goes.
void admit_objects(const Admit& admit, const fs::path& objects, unsigned depth) {
  constexpr unsigned depth_max = 6;
  if (depth == depth_max || !try_stat(objects)) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(objects, error)) admit(entry.path());
  for (const auto& entry : fs::directory_iterator(objects / "pack", error)) admit(entry.path());
  admit(objects / "info/alternates");
  std::istringstream others(try_read_text(objects / "info/alternates", 64 * 1024).value_or(""));
  for (std::string line; std::getline(others, line);) admit_objects(admit, objects / line, depth + 1);
}

void admit_clone(const Admit& admit, fs::path git) {
  if (const auto s = try_stat(git); s && S_ISREG(s->st_mode)) {  // a linked work tree: its repository stands elsewhere
    admit(git);
    constexpr std::string_view key = "gitdir: ";
    const std::string text(trim(try_read_text(git, PATH_MAX).value_or("")));
    if (text.starts_with(key)) git = git.parent_path() / text.substr(key.size());
    if (const auto common = try_read_text(git / "commondir", PATH_MAX)) git /= trim(*common);
  }
  for (const char* name : {"HEAD", "packed-refs", "refs/heads"}) admit(git / name);
  admit_objects(admit, git / "objects", 0);
}

// A repository of this machine is a source as any file is: all users who read the store must be able to read it. Git
// looks at several names, and takes a bundle, too.
void admit_repository(const Store& store, const GitSource& git) {
  const fs::path place = local_path(git.origin);
  if (place.empty()) return;
  const Admit admit = [&](const fs::path& path) {
    if (!try_stat(path)) return;
    check_named_file(git.namer, path, printable(path.native()));
    store.admit(path, printable(path.native()));
  };
  for (const char* more : {"", "/.git", ".git", ".git/.git"}) admit_clone(admit, place.native() + more);
}

Sha256 clone_key(const GitSource& git, const std::string& asked) {
  return sha256("git clone\n" + git.origin + "\n" + asked);
}

// The tree of a commit with those of its submodules.
class TreeFetch {
 public:
  TreeFetch(FetchContext& context, ManifestBuilder& builder) : context_(context), builder_(builder) {}

  // Adds what is in the commit that is asked for, below `below`; returns its full name.
  std::string take(const GitSource& git, const std::string& asked, const std::optional<RelativePath>& below,
                   unsigned depth);

 private:
  struct Commit {
    const GitSource& git;
    const fs::path& bare;
    const std::string& name;
  };
  static constexpr unsigned depth_max = 10, submodules_max = 1000;

  std::string ask(const Commit& commit, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--git-dir", commit.bare.string()});
    return run_command(git_command(std::move(arguments)), context_.stop).out;
  }

  // The submodules of .gitmodules, by path.
  [[nodiscard]] std::map<std::string, Submodule> named(const Commit& commit) const {
    return parse_submodules(ask(commit, {"config", "--blob", commit.name + ":.gitmodules", "--null", "--get-regexp",
                                         "^submodule\\..*\\.(path|url|update)$"}));
  }

  // The commit of a submodule, as the tree names it: "160000 commit HEX\tPATH\0".
  [[nodiscard]] std::string commit_at(const Commit& commit, const RelativePath& path) const {
    const std::string line = ask(commit, {"--literal-pathspecs", "ls-tree", "-z", commit.name, "--", path.text()});
    constexpr std::string_view head = "160000 commit ";
    std::string hex = line.starts_with(head) ? line.substr(head.size(), line.find('\t') - head.size()) : "";
    return is_object_name(hex) ? hex : "";
  }

  void take_submodules(const Commit& commit, const std::vector<RelativePath>& paths,
                       const std::optional<RelativePath>& below, unsigned depth) {
    const auto by_path = named(commit);
    std::vector<std::string> missing;
    std::optional<Failure> first;
    std::vector<SubmoduleClone> clones;
    for (const RelativePath& path : paths) {
      const std::string hex = commit_at(commit, path);
      if (hex.empty()) continue;
      const RelativePath place = below ? *below / path : path;
      const auto wish = by_path.find(path.text());
      if (wish == by_path.end() || wish->second.url.empty() || wish->second.update == "none") {
        context_.events.on(event::Warning{
            fmt::format("{} is a submodule of {} that is left empty: its .gitmodules {}", printable(place.text()),
                        printable(commit.git.origin),
                        wish != by_path.end() && !wish->second.url.empty() ? "says so" : "names no place for it")});
        continue;
      }
      try {
        clones.push_back(take_submodule(commit, path, wish->second, hex, place, depth));
      } catch (const Error& error) {
        const Failure& failure = error.failure();
        if (verdict(failure.kind) == Verdict::fatal && failure.kind != FailureKind::command) throw;
        missing.push_back(place.text());
        if (!first) first = failure;
      }
    }
    if (!first) return write_submodule_clones(commit.bare, clones);
    throw Error(
        first->kind,
        fmt::format("{}: {} of its submodules cannot be had: {}: {}", printable(commit.git.origin), missing.size(),
                    some_of(missing), first->message),
        "clone it with --recurse-submodules where that is possible, and give the clone with " + option_text("path"));
  }

  SubmoduleClone take_submodule(const Commit& commit, const RelativePath& path, const Submodule& wish,
                                const std::string& hex, const RelativePath& place, unsigned depth) {
    if (depth == depth_max || ++submodules_ > submodules_max)
      throw Error(FailureKind::invalid, fmt::format("{} has submodules without an end", printable(commit.git.origin)));
    GitSource git;
    const fs::path here = local_path(commit.git.origin) / path.text();  // a clone that has it already
    git.origin = submodule_origin(commit.git.origin, wish.url);
    if (!local_path(commit.git.origin).empty() && try_stat(here / ".git")) {
      git.origin = here.string();
    } else {
      check_submodule(commit.git.origin, git.origin);
      name_submodule(commit.git, git);
    }
    git.commit = hex;
    static_cast<void>(take(git, hex, place, depth + 1));
    return {path.text(), context_.store.git_directory(clone_key(git, hex)), hex, git.origin};
  }

  // Its repository names it, unless a rule of the user leads elsewhere.
  void name_submodule(const GitSource& of, GitSource& git) const {
    const std::string said = git.origin;
    git = rewritten(std::move(git), context_.rewrites);
    if (git.origin != said) return;
    Namer namer = namer_of(context_, of);
    const auto url = url_of(git), parent = url_of(of);
    namer.own_host = url && parent && url->host() == parent->host();
    git.namer = of.namer;
    if (namer.user != 0) add_namer(git.namer, namer);
  }

  FetchContext& context_;
  ManifestBuilder& builder_;
  unsigned submodules_ = 0;
};

std::string TreeFetch::take(const GitSource& git, const std::string& asked, const std::optional<RelativePath>& below,
                            unsigned depth) {
  FetchContext& context = context_;
  admit_repository(context.store, git);
  const fs::path bare = context.store.git_directory(clone_key(git, asked));
  const fs::path work = context.store.make_temporary_directory();
  std::optional<std::string> commit =
      has_own_clone(context.store, clone_key(git, asked)) ? full_name(context, asked, bare) : std::nullopt;
  if (!commit) {  // there is none, or it lost something
    where_it_is(context, git, [&](const GitSource& there) {
      remove_tree(work / "bare");
      clone_bare(context, there, asked, work / "bare");
    });
    commit = full_name(context, asked, work / "bare");
    if (!commit) {
      throw Error(FailureKind::unavailable, fmt::format("{} has no commit {}", printable(git.origin), printable(asked)),
                  "check the commit in the recipe");
    }
    close_to_members(context.store, work / "bare");
    make_directories(bare.parent_path());
    const int error = rename_at(AT_FDCWD, bare.c_str(), AT_FDCWD, (work / "lost").c_str());
    if (error != 0 && error != ENOENT) throw_errno("replace", bare, error);
    // Another process may have been first: its clone serves as well.
    if (::rename((work / "bare").c_str(), bare.c_str()) != 0 && !try_stat(bare)) throw_errno("keep", bare, errno);
  }
  static_cast<void>(::utimensat(AT_FDCWD, bare.c_str(), nullptr, 0));  // a collection looks when it was used
  // The clone is bare: git checks out of it only into a work tree that it is given.
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
  const auto empty = take_git_tree(context, git, work / "tree", below, builder_);
  remove_tree(work);
  if (!empty.empty()) take_submodules({git, bare, *commit}, empty, below, depth);
  return *commit;
}

}  // namespace

GitSource rewritten(GitSource git, const RewriteRules& rules) {
  const auto url = Url::try_parse(git.origin);
  if (!url) return git;
  const Url there = rewritten(*url, rules);
  if (there == *url) return git;
  git.origin = there.text();
  git.namer.reset();
  return git;
}

std::string resolve_commit(FetchContext& context, const GitSource& git) {
  if (!git.commit.empty()) {
    if (is_hexadecimal(git.commit) && git.commit.size() >= 7 && git.commit.size() <= 64) return git.commit;
    throw Error(FailureKind::invalid, fmt::format("{} is no commit", printable(git.commit)),
                "a commit is 7 to 64 hexadecimal digits");
  }
  const std::string ref = !git.branch.empty() ? "refs/heads/" + git.branch
                          : !git.tag.empty()  ? "refs/tags/" + git.tag
                                              : "HEAD";
  std::string out;
  where_it_is(context, git, [&](const GitSource& there) {
    out = run_git(context, there, git_command({"ls-remote", "--", there.origin, ref, ref + "^{}"}), true);
  });
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
  return TreeFetch(context, builder).take(git, asked, std::nullopt, 0);
}

}  // namespace sabath
