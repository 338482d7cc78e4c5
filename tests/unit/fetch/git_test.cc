// Source trees from real repositories made here: which commit is meant, what of it is taken, what is never executed.
#include "fetch/git/git.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/process.h"
#include "fetch_bench.h"
#include "support/process.h"
#include "support/seeded.h"

namespace sabath::test {
namespace {

namespace fs = std::filesystem;

class GitTest : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("git").empty()) GTEST_SKIP() << "SKIP: no git";
    fs::create_directories(repository_);
    git({"init", "--quiet", "--initial-branch=main"});
    write("README", "one\n");
    write("bin/run", "#!/bin/sh\n");
    fs::permissions(repository_ / "bin/run", fs::perms(0755));
    fs::create_symlink("../README", repository_ / "bin/link");
    first_ = commit("first");
  }

  std::string git(std::vector<std::string> arguments) { return git_in(repository_, std::move(arguments)); }

  std::string git_in(const fs::path& where, std::vector<std::string> arguments) {
    Command command;
    command.argv = {"git", "-C", where.string()};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    for (const char* who : {"AUTHOR", "COMMITTER"}) {
      command.environment.emplace_back(std::string("GIT_") + who + "_NAME", "A. Tester");
      command.environment.emplace_back(std::string("GIT_") + who + "_EMAIL", "tester@example.org");
      command.environment.emplace_back(std::string("GIT_") + who + "_DATE", "2024-01-01T00:00:00Z");
    }
    command.environment.emplace_back("GIT_CONFIG_GLOBAL", "/dev/null");
    const auto result = run_command(command, {});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out.substr(0, result.out.find('\n'));
  }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((repository_ / path).parent_path());
    write_file(repository_ / path, text);
  }

  std::string commit(const std::string& message) {
    git({"add", "--all"});
    git({"commit", "--quiet", "--allow-empty", "-m", message});
    return git({"rev-parse", "HEAD"});
  }

  // A repository beside the first one, with one file; its commit.
  std::string other(const std::string& name, const std::string& text) {
    const fs::path where = bench_.directory / name;
    fs::create_directories(where);
    git_in(where, {"init", "--quiet", "--initial-branch=main"});
    write_file(where / "code.py", text);
    git_in(where, {"add", "--all"});
    git_in(where, {"commit", "--quiet", "-m", name});
    return git_in(where, {"rev-parse", "HEAD"});
  }

  // As `git submodule add` would, without a checkout.
  void add_submodule(const fs::path& where, const std::string& path, const std::string& url,
                     const std::string& commit) {
    git_in(where, {"config", "--file", (where / ".gitmodules").string(), "submodule." + path + ".path", path});
    git_in(where, {"config", "--file", (where / ".gitmodules").string(), "submodule." + path + ".url", url});
    git_in(where, {"add", ".gitmodules"});
    git_in(where, {"update-index", "--add", "--cacheinfo", "160000," + commit + "," + path});
    git_in(where, {"commit", "--quiet", "-m", "submodule"});
  }

  [[nodiscard]] GitSource source(const std::string& origin = {}) const {
    GitSource source;
    source.origin = origin.empty() ? "file://" + repository_.string() : origin;
    return source;
  }

  std::string resolve(const GitSource& what) {
    auto context = bench_.context();
    return resolve_commit(context, what);
  }

  // path -> "f:content", "x:content", "d", "l:target", of the commit that `what` means.
  std::map<std::string, std::string> fetched(const GitSource& what) {
    auto context = bench_.context();
    ManifestBuilder builder;
    taken_ = fetch_git(context, what, resolve_commit(context, what), builder);
    const Manifest manifest = Manifest::parse(builder.bytes());
    std::map<std::string, std::string> found;
    manifest.for_each([&](const Entry& entry) {
      std::string& text = found[entry.path.text()];
      if (entry.type == EntryType::directory) text = "d";
      if (entry.type == EntryType::symlink) text = "l:" + entry.target;
      if (entry.is_file()) text = (entry.type == EntryType::file ? "f:" : "x:") + bench_.content(entry.digest);
    });
    return found;
  }

  Failure failure(const GitSource& what) {
    try {
      (void)fetched(what);
    } catch (const Error& error) {
      return error.failure();
    }
    ADD_FAILURE() << "it was fetched";
    return {};
  }

  FetchBench bench_;
  fs::path repository_ = bench_.directory / "repository";
  std::string first_, taken_;
};

const std::map<std::string, std::string> first_tree = {
    {"README", "f:one\n"}, {"bin", "d"}, {"bin/run", "x:#!/bin/sh\n"}, {"bin/link", "l:../README"}};

TEST_F(GitTest, TheDefaultBranchBranchesTagsAndCommits) {
  git({"tag", "light"});
  git({"tag", "-a", "-m", "a tag object", "annotated"});
  git({"checkout", "--quiet", "-b", "other"});
  write("README", "two\n");
  const std::string second = commit("second");
  git({"checkout", "--quiet", "main"});

  GitSource what = source();
  EXPECT_EQ(fetched(what), first_tree);
  EXPECT_EQ(taken_, first_);
  what.branch = "other";
  EXPECT_EQ(fetched(what).at("README"), "f:two\n");
  EXPECT_EQ(taken_, second);
  for (const char* tag : {"light", "annotated"}) {
    what = source();
    what.tag = tag;
    EXPECT_EQ(fetched(what), first_tree) << tag;
    EXPECT_EQ(taken_, first_) << tag;
  }
  for (const std::string& name : {first_, first_.substr(0, 7), first_.substr(0, 12)}) {
    what = source();
    what.commit = name;
    EXPECT_EQ(fetched(what), first_tree) << name;
    EXPECT_EQ(taken_, first_) << name;
  }
}

TEST_F(GitTest, HeadIsHeadAlsoOfACloneThatHasOthers) {
  git({"update-ref", "refs/remotes/origin/old", first_});
  git({"symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/old"});
  write("README", "two\n");
  const std::string second = commit("second");
  EXPECT_EQ(resolve(source()), second);
  git({"update-ref", "refs/heads/x/refs/heads/main", first_});
  GitSource what = source();
  what.branch = "main";
  EXPECT_EQ(resolve(what), second);
}

TEST_F(GitTest, ABranchThatIsCalledLikeACommitIsNotThatCommit) {
  write("README", "evil\n");
  commit("second");
  git({"update-ref", "refs/heads/" + first_.substr(0, 10), "HEAD"});
  GitSource what = source();
  what.commit = first_.substr(0, 10);
  try {
    EXPECT_EQ(fetched(what), first_tree);
    EXPECT_EQ(taken_, first_);
  } catch (const Error& error) {
    EXPECT_EQ(error.failure().kind, FailureKind::unavailable);
  }
}

TEST_F(GitTest, WhatIsNotThere) {
  GitSource what = source();
  what.branch = "none";
  EXPECT_EQ(failure(what).kind, FailureKind::unavailable);
  what = source();
  what.tag = "none";
  EXPECT_EQ(failure(what).kind, FailureKind::unavailable);
  for (const char* commit : {"0123456789012345678901234567890123456789", "0123456"}) {
    what = source();
    what.commit = commit;
    const Failure none = failure(what);
    EXPECT_EQ(none.kind, FailureKind::unavailable) << none.message;
    EXPECT_NE(none.message.find(commit), std::string::npos) << none.message;
  }
  EXPECT_EQ(failure(source("file:///no/such/repository")).kind, FailureKind::unavailable);
  for (const char* commit : {"HEAD", "main", "--all", "abc", "0123456^"}) {
    what = source();
    what.commit = commit;
    EXPECT_EQ(failure(what).kind, FailureKind::invalid) << commit;
  }
}

TEST_F(GitTest, TheSecondTimeTheCloneIsThere) {
  GitSource what = source();
  what.commit = first_;
  EXPECT_EQ(fetched(what), first_tree);
  EXPECT_GT(bench_.record(what.origin).bytes, 0U);
  EXPECT_GE(bench_.record(what.origin).requests, 1U);
  bench_.reopen();
  fs::rename(repository_, bench_.directory / "gone");
  EXPECT_EQ(fetched(what), first_tree);
  EXPECT_EQ(bench_.record(what.origin).requests, 0U);
}

TEST_F(GitTest, ACloneThatLostItsObjectsIsMadeAnew) {
  GitSource what = source();
  what.commit = first_;
  EXPECT_EQ(fetched(what), first_tree);
  bench_.reopen();
  for (const auto& clone : fs::directory_iterator(bench_.directory / "store" / "git")) {
    fs::remove_all(clone.path() / "objects" / "pack");
  }
  EXPECT_EQ(fetched(what), first_tree);
}

TEST_F(GitTest, NothingOfTheRepositoryIsExecutedAndNoAttributeChangesAByte) {
  const auto trace = bench_.directory / "executed";
  const std::string command = "touch " + trace.string();
  write("a.txt", "$Id$\nline\n");
  write("a.bin", "plain\n");
  commit("as they are");
  write(".gitattributes",
        "*.txt text eol=crlf ident filter=evil\n*.bin working-tree-encoding=UTF-16LE-BOM diff=evil\n");
  git({"add", ".gitattributes"});  // no other file: git would convert it
  git({"commit", "--quiet", "-m", "attributes"});
  git({"config", "filter.evil.smudge", command});
  git({"config", "filter.evil.process", command});
  git({"config", "core.fsmonitor", command});
  git({"config", "uploadpack.packObjectsHook", command});
  for (const char* hook : {"post-checkout", "reference-transaction", "post-index-change", "pre-receive", "update"}) {
    write_file(repository_ / ".git/hooks" / hook, "#!/bin/sh\n" + command + "\n");
    fs::permissions(repository_ / ".git/hooks" / hook, fs::perms(0755));
  }
  const auto found = fetched(source());
  EXPECT_EQ(found.at("a.txt"), "f:$Id$\nline\n");
  EXPECT_EQ(found.at("a.bin"), "f:plain\n");
  EXPECT_FALSE(fs::exists(trace));
}

TEST_F(GitTest, ASymlinkThatLeavesIsRefused) {
  fs::create_symlink("/etc/passwd", repository_ / "leaves");
  commit("leaves");
  EXPECT_EQ(failure(source()).kind, FailureKind::invalid);
  fs::remove(repository_ / "leaves");
  fs::create_symlink("../../x", repository_ / "bin/leaves");
  commit("leaves too");
  EXPECT_EQ(failure(source()).kind, FailureKind::invalid);
}

TEST_F(GitTest, ASubmoduleThatNothingNamesIsLeftEmptyAndSaid) {
  git({"update-index", "--add", "--cacheinfo", "160000," + first_ + ",sub"});
  git({"commit", "--quiet", "-m", "submodule"});
  EXPECT_EQ(fetched(source()).at("sub"), "d");
  EXPECT_EQ(bench_.events->warnings().size(), 1U);
}

TEST_F(GitTest, SubmodulesAreFetchedAlsoThoseOfSubmodules) {
  const std::string inner = other("inner", "x = 1\n"), outer = other("outer", "y = 1\n");
  add_submodule(bench_.directory / "outer", "deep/inner", "../inner", inner);
  const std::string outer_now = git_in(bench_.directory / "outer", {"rev-parse", "HEAD"});
  add_submodule(repository_, "lib", "file://" + (bench_.directory / "outer").string() + "/", outer_now);
  const auto found = fetched(source());
  EXPECT_EQ(found.at("lib/code.py"), "f:y = 1\n");
  EXPECT_EQ(found.at("lib/deep/inner/code.py"), "f:x = 1\n");
  EXPECT_EQ(found.at("README"), "f:one\n");
  EXPECT_TRUE(bench_.events->warnings().empty());
}

TEST_F(GitTest, SubmodulesThatCannotBeHadAreNamed) {
  for (const char* path : {"lib/a", "lib/b"})
    add_submodule(repository_, path, "file:///no/such/" + std::string(path), first_);
  const Failure none = failure(source());
  EXPECT_EQ(none.kind, FailureKind::unavailable);
  EXPECT_NE(none.message.find("2 of its submodules"), std::string::npos) << none.message;
  EXPECT_NE(none.message.find("lib/a, lib/b"), std::string::npos) << none.message;
}

TEST_F(GitTest, AChainOfSubmodulesHasAnEnd) {
  // Each commit names the one before it, of the same repository.
  for (int i = 0; i < 12; ++i) add_submodule(repository_, "next", "./", git({"rev-parse", "HEAD"}));
  const Failure none = failure(source());
  EXPECT_EQ(none.kind, FailureKind::invalid);
  EXPECT_NE(none.message.find("without an end"), std::string::npos) << none.message;
}

constexpr const char* annex_key = "SHA256E-s4--cd97c3a1c6e1ff2d3d3a4ec1a3e0d1c3a4ec1a3e0d1c3a4ec1a3e0d1c3a4ec1a.h5";

TEST_F(GitTest, WhatGitAnnexKeepsElsewhereIsNamed) {
  fs::create_symlink("../.git/annex/objects/1k/Zq/" + std::string(annex_key) + "/" + annex_key,
                     repository_ / "bin/big.h5");
  write("unlocked.h5", "/annex/objects/" + std::string(annex_key) + "\n");
  write("note", "/annex/objects/ is where git-annex keeps content\n");
  commit("annexed");
  const Failure none = failure(source());
  EXPECT_EQ(none.kind, FailureKind::unavailable);
  EXPECT_NE(none.message.find("2 of its files elsewhere: bin/big.h5, unlocked.h5"), std::string::npos) << none.message;
}

// Trees as old tools wrote them, and others that git's check refuses: by a repository made of raw objects.
TEST_F(GitTest, WhatOldToolsWroteIsTakenAndWhatIsMalformedIsRefusedByGitsWord) {
  const auto raw = [&](const std::string& mode, const std::string& name, const std::string& object) {
    std::string bytes = mode + " " + name + '\0';
    for (std::size_t i = 0; i < object.size(); i += 2)
      bytes += static_cast<char>(std::stoi(object.substr(i, 2), nullptr, 16));
    write_file(bench_.directory / "tree", bytes);
    const std::string tree =
        git({"hash-object", "-w", "-t", "tree", "--literally", (bench_.directory / "tree").string()});
    git({"update-ref", "refs/heads/" + std::string(name == "src" ? "old" : "bad"),
         git({"commit-tree", "-m", "x", tree})});
  };
  GitSource what = source();
  raw("040000", "src", git({"rev-parse", first_ + ":bin"}));
  what.branch = "old";
  EXPECT_EQ(fetched(what).at("src/run"), "x:#!/bin/sh\n");
  raw("40000", "..", git({"rev-parse", first_ + ":bin"}));
  what.branch = "bad";
  const Failure refused = failure(what);
  EXPECT_EQ(refused.kind, FailureKind::invalid);
  EXPECT_NE(refused.message.find("hasDotdot"), std::string::npos) << refused.message;
  EXPECT_EQ(refused.hint.find("again"), std::string::npos) << refused.hint;
}

TEST_F(GitTest, OnlyWhatANetworkDoesIsTriedAgain) {
  const fs::path program = bench_.directory / "bin" / "git";
  fs::create_directories(program.parent_path());
  const std::string path = std::getenv("PATH");
  const auto kind_of = [&](const std::string& words) {
    write_file(program, "#!/bin/sh\necho '" + words + "' >&2; exit 128\n");
    fs::permissions(program, fs::perms(0755));
    ::setenv("PATH", (program.parent_path().string() + ":" + path).c_str(), 1);
    const FailureKind kind = failure(source("https://h.example/a.git")).kind;
    ::setenv("PATH", path.c_str(), 1);
    return kind;
  };
  EXPECT_EQ(kind_of("fatal: unable to access: Could not resolve host: h.example"), FailureKind::network);
  EXPECT_EQ(kind_of("fatal: the remote end hung up unexpectedly"), FailureKind::network);
  EXPECT_EQ(kind_of("fatal: a word that nobody knows"), FailureKind::command);
  EXPECT_EQ(kind_of("fatal: detected dubious ownership in repository"), FailureKind::command);
  EXPECT_EQ(kind_of("fatal: Authentication failed"), FailureKind::access);
  EXPECT_EQ(kind_of("fatal: fsck error in packed object"), FailureKind::invalid);
}

TEST_F(GitTest, ARepositoryOfSha256Names) {
  repository_ = bench_.directory / "long";
  fs::create_directories(repository_);
  git({"init", "--quiet", "--initial-branch=main", "--object-format=sha256"});
  write("README", "one\n");
  const std::string name = commit("first");
  ASSERT_EQ(name.size(), 64U);
  EXPECT_EQ(fetched(source()).at("README"), "f:one\n");
  EXPECT_EQ(taken_, name);
}

TEST_F(GitTest, OriginsThatAreNoOrigins) {
  for (const char* origin : {"ext::sh -c true", "--upload-pack=true", "fd::7"}) {
    try {
      (void)resolve(source(origin));
      ADD_FAILURE() << origin;
    } catch (const Error&) {}
  }
}

TEST_F(GitTest, AStopRequestEndsIt) {
  bench_.stop.request_stop();
  EXPECT_EQ(failure(source()).kind, FailureKind::interrupted);
}

}  // namespace
}  // namespace sabath::test
