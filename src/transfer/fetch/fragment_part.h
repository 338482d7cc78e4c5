// One fragment on its way into the asset: it is prepared, its file is fetched with those of the other fragments, and
// what became of it goes into the asset or into the failures. One thread; the lanes work between prepare() and
// settle().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "fetch/decide/job.h"
#include "fetch/fragment_choice.h"
#include "fetch/fragment_scope.h"

namespace sabath {

class FragmentPart {
 public:
  FragmentPart(FragmentScope& scope, FragmentChoice choice, std::optional<LocalFile> local)
      : scope_(scope), choice_(std::move(choice)), local_(std::move(local)) {}
  virtual ~FragmentPart() = default;
  FragmentPart(const FragmentPart&) = delete;
  FragmentPart& operator=(const FragmentPart&) = delete;

  // Completes the job. Settles it at once if its content is here already, or comes from a local file.
  virtual void prepare() = 0;
  // The job to be fetched; nullptr: none.
  [[nodiscard]] const FileJob* job() const { return settled_ ? nullptr : &choice_.job; }
  virtual void take(FileOutcome outcome) { outcome_ = std::move(outcome); }
  // Adds its entries to the asset's, or its failure to the scope's. Throws what concerns the whole fetch.
  void settle(ManifestBuilder& asset);

 protected:
  [[nodiscard]] const Fragment& fragment() const { return *choice_.fragment; }
  [[nodiscard]] FileJob& own_job() { return choice_.job; }
  [[nodiscard]] bool is_local() const { return local_.has_value(); }
  [[nodiscard]] Store& store() const { return scope_.context.store; }
  [[nodiscard]] RelativePath place(const RelativePath& path) const { return place_in(fragment(), path); }

  // --- what the kinds of fragments differ in
  virtual bool enter() = 0;  // its entries; false: some of its files failed, and that is reported
  virtual void publish() {}  // what waited for its tree to be found possible
  virtual void discard() {}  // it failed
  [[nodiscard]] virtual bool proven() const { return !fragment().checksum.empty(); }  // by what the recipe states
  [[nodiscard]] virtual bool given_key_tells() const { return true; }  // more than what is noted of its files
  [[nodiscard]] virtual std::string note() const;                      // of its ref
  virtual FileOutcome read_local(const LocalFile& file, std::uint64_t size_bytes);

  // --- what they share
  void adopt_local();
  void settle_now(const std::function<void()>& work);  // a failure that is not fatal becomes the outcome's
  void note_trust(const FileOutcome& outcome);
  void note_giver(const FileJob& job, const FileOutcome& outcome);
  void remember_aliases(const FileOutcome& outcome);

  FragmentScope& scope_;
  FileOutcome outcome_;
  ManifestBuilder entries_;

 private:
  void keep_unchanged(ManifestBuilder& asset);
  void learn(ManifestBuilder& asset);
  [[nodiscard]] std::string trust_in(const FileOutcome& outcome) const;

  FragmentChoice choice_;
  std::optional<LocalFile> local_;
  std::string trusted_by_;  // the weakest of its files

 protected:
  bool settled_ = false;  // nothing to fetch
};

[[nodiscard]] std::unique_ptr<FragmentPart> make_part(FragmentScope& scope, FragmentChoice choice,
                                                      std::optional<LocalFile> local);

}  // namespace sabath
