// How each fragment of an asset comes: decided by the recipe, the request and the store's notes, before any source is
// asked. A fetch carries the choice out, `plan` and `--dry-run` report it. Nothing is changed and no content is read.
// The caller finds out whether content is here: a fetch makes sure of it, a plan looks at names.
// One thread. Throws Error{storage}, Error{invalid}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fetch/asset.h"
#include "fetch/decide/job.h"
#include "fetch/decide/rewrite.h"
#include "manifest/manifest.h"
#include "sabath/fetcher.h"
#include "sabath/recipe.h"
#include "sabath/resolver.h"
#include "store/store.h"

namespace sabath {

enum class FragmentWay {
  file,      // one file
  list,      // a document, then the files that it names
  resolver,  // a resolver says what stands behind the URL, then its files
  archive,   // read from its first byte to its last, and unpacked
  members,   // some members of an archive, by ranges of it
};

struct FragmentChoice {
  const Fragment* fragment = nullptr;
  FragmentWay way = FragmentWay::file;
  FileJob job;                     // the file, the list, or the archive
  std::optional<Ref> learnt;       // the tree of an earlier fetch. Where all of it is here, no source is asked
  std::optional<Manifest> tree;    // that of `learnt`
  std::optional<Ref> unchanged;    // what the version of `job.unless` was
  std::optional<Manifest> before;  // that of `unchanged`. Where some of it is lost, its version is not enough
  void ask_for_content() {
    job.unless.reset();
    unchanged.reset();
    before.reset();
  }
};

// Where a list itself stands in the view: beside its files, unchanged.
[[nodiscard]] RelativePath list_path(const Fragment& fragment);
[[nodiscard]] RelativePath place_in(const Fragment& fragment, const RelativePath& path);  // in the view
// The files that a list of any format names. Throws Error{invalid}.
[[nodiscard]] std::vector<ListedFile> parse_list(const std::string& text, const Fragment& fragment);

class FragmentChoices {
 public:
  struct Given {
    const Store* store;          // nullptr: there is none yet
    const FetcherSet* fetchers;  // nullptr: nothing is resolved
    const RewriteRules& rewrites;
    bool force;                // believe nothing that an earlier fetch left
    const Manifest* expected;  // its digests are those that every file must have; nullptr: they are learnt
  };
  FragmentChoices(const Recipe& recipe, const AssetRequest& request, const Given& given);

  // Those that were asked for, in the recipe's order.
  [[nodiscard]] std::vector<const Fragment*> chosen() const;
  // `local`: the user has given a copy of it.
  [[nodiscard]] FragmentChoice of(const Fragment& fragment, bool local = false) const;
  // Those of a listing that were asked for.
  void choose(const Fragment& fragment, std::vector<ListedFile>& listed) const;
  [[nodiscard]] FileJob job_of(const Fragment& fragment, const ListedFile& listed) const;
  // Of any file that a source names.
  [[nodiscard]] FileJob job_of(const std::string& path, const std::vector<Url>& urls) const;

  [[nodiscard]] const Manifest* expected() const { return given_.expected; }
  // The trees of earlier fetches are enough, where their content is here.
  [[nodiscard]] bool believes_learnt() const { return !given_.expected && !given_.force && !request_.refresh; }
  void expect(FileJob& job, const std::string& path) const;

 private:
  void set_sources(FileJob& job, const std::vector<Url>& urls) const;
  [[nodiscard]] FragmentWay way_of(const Fragment& fragment, bool local) const;
  [[nodiscard]] std::optional<Ref> learnt_of(const Fragment& fragment) const;
  [[nodiscard]] bool is_expected(const Manifest& tree) const;
  void ask_whether_changed(FragmentChoice& choice) const;

  const Recipe& recipe_;
  const AssetRequest& request_;
  const Given given_;
  const SourceNames names_;
  mutable std::optional<ManifestLookup> lookup_;  // in `expected`: keeps the page that it read last
  const bool learnt_;                             // `expected` is what these very sources gave before
};

}  // namespace sabath
