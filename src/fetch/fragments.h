// The fragments of one asset, fetched together: files and lists by the lanes, archives unpacked as they arrive, then
// what the lists name. One thread; the lanes work inside.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "fetch/archive.h"
#include "fetch/asset.h"
#include "fetch/context.h"
#include "fetch/job.h"
#include "fetch/remote_tar_index.h"
#include "fetch/spool.h"
#include "recipe/file_list.h"

namespace sabath {

// Where a list itself stands in the view: beside its files, unchanged.
[[nodiscard]] RelativePath list_path(const Fragment& fragment);
// The weaker of two reasons to believe; "" is none yet.
[[nodiscard]] std::string weaker_trust(const std::string& a, const std::string& b);

// What another member of the store has learnt of this source, and how it would be believed; empty: nothing.
[[nodiscard]] std::string others_hint(const Store& store, const Sha256& key);

// What is here of a root that is known before anything is asked: these sources gave it before, or others did.
[[nodiscard]] Reuse level_of_known(const Store& store, const Recipe& recipe, const AssetRequest& request,
                                   const Sha256& root);

class FragmentFetch {
 public:
  // `expected`: the pinned or learnt manifest, whose digests every file must have; nullptr: they are learnt. Where the
  // request selects a part it may name more than is fetched.
  FragmentFetch(FetchContext& context, const Recipe& recipe, const Manifest* expected, AssetRequest& request);
  ~FragmentFetch();

  // Adds the entries of all fragments to `builder`. Failures of single files are collected.
  void run(ManifestBuilder& builder);
  [[nodiscard]] const std::vector<FileFailure>& failures() const { return failures_; }
  [[nodiscard]] std::uint64_t files_done() const { return files_done_; }
  [[nodiscard]] const std::string& trusted_by() const { return trusted_by_; }  // the weakest of all fragments
  [[nodiscard]] const std::vector<ResolvedSource>& resolved() const { return resolved_; }

 private:
  struct Part {  // one fragment on its way
    const Fragment* fragment = nullptr;
    FileJob job;
    FileOutcome outcome;
    std::optional<LocalFile> local;
    Ref unless_changed;      // what the version of `job.unless` was
    bool settled = false;    // nothing to fetch
    bool resolved = false;   // `listed` is from a resolver: there is no list to be read or kept
    std::string trusted_by;  // the weakest of its files
    std::unique_ptr<SpoolFollower> follower;
    Unpacked unpacked;
    std::vector<ListedFile> listed;
    std::exception_ptr unpack_failure;
    ManifestBuilder entries;
    std::jthread unpacker;  // last: joined before what it uses goes
  };

  void prepare(Part& part);
  bool reuse_learnt(Part& part, ManifestBuilder& builder);
  [[nodiscard]] std::optional<Ref> learnt_of(const Fragment& fragment) const;
  void ask_whether_changed(Part& part);
  void name_those_who_know(const Fragment& fragment);
  void set_sources(FileJob& job, const std::vector<Url>& urls) const;
  void expect(FileJob& job, const std::string& path);
  void adopt_local(Part& part);
  void prepare_resolved(Part& part);
  [[noreturn]] void refuse_offline(const std::string& first, std::size_t files) const;
  void reserve(const std::vector<FileJob>& jobs);
  void look_ahead(const std::vector<FileJob>& jobs);
  [[nodiscard]] std::optional<std::uint64_t> asked_size(const FileJob& job);
  void start_unpacker(Part& part);
  void unpack(Part& part);
  [[nodiscard]] std::vector<FileOutcome> fetch_jobs(const std::vector<FileJob>& jobs);
  void fetch_parts();
  void settle(Part& part, ManifestBuilder& builder);
  void take_unpacked(Part& part);
  void publish_unpacked(Part& part);
  void take_list(Part& part);
  [[nodiscard]] std::string trust_in(const Part& part, const FileOutcome& outcome) const;
  void note_trust(Part& part, const FileOutcome& outcome);
  void note_giver(const Part& part, const FileJob& job, const FileOutcome& outcome);
  void learn(Part& part, const FileOutcome& outcome, ManifestBuilder& builder);
  void remember_aliases(const FileOutcome& outcome);
  // --- of a selection
  [[nodiscard]] bool in_part(const Fragment& fragment) const;  // an archive of which members were asked for
  [[nodiscard]] bool chosen_file(const Fragment& fragment, std::uint64_t& files) const;
  void choose_listed(const Fragment& fragment, std::vector<ListedFile>& listed) const;
  void prepare_part(Part& part);
  void take_members(Part& part);
  void take_members_from(Part& part, std::size_t mirror, bool fresh);
  [[nodiscard]] FileJob member_job(const Part& part, const RelativePath& path, const TarEntry& entry,
                                   const Validators& version);
  [[nodiscard]] std::vector<Url> rewritten_all(const std::vector<Url>& urls) const;

  FetchContext& context_;
  const Recipe& recipe_;
  const Manifest* expected_;
  std::optional<ManifestLookup> lookup_;  // in it
  AssetRequest& request_;
  const bool learnt_;  // `expected_` is what these very sources gave before
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<FileFailure> failures_;
  std::uint64_t files_done_ = 0;
  std::string trusted_by_;
  std::vector<ResolvedSource> resolved_;
};

}  // namespace sabath
