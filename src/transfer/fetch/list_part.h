// A fragment that stands for many files: a list or a resolver names them. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fetch/fragment_part.h"
#include "sabath/resolver.h"

namespace sabath {

// Its files are fetched together when it is settled: only then all that is named is known.
class ListedPart : public FragmentPart {
 public:
  using FragmentPart::FragmentPart;

 protected:
  // False: some of them failed. `over_tls`: the listing came so; by one protocol from one source, a file came as it
  // did. `list_bytes`: of the list, where it is a file itself.
  [[nodiscard]] bool enter_files(bool over_tls, std::optional<std::uint64_t> list_bytes = {});
  [[nodiscard]] bool from_hub() const { return from_hub_; }  // a hub's fetcher gave one of its files, whole
  std::vector<ListedFile> listed_;

 private:
  struct Files;
  [[nodiscard]] Files jobs();
  [[nodiscard]] bool proven() const override { return false; }  // the checksum is of the list alone
  bool from_hub_ = false;
};

// The list is a document, kept beside its files.
class ListPart final : public ListedPart {
 public:
  using ListedPart::ListedPart;
  void prepare() override;

 private:
  bool enter() override;
  [[nodiscard]] std::optional<Reach> heard();  // of the farthest host that the list came from
  FileOutcome read_local(const LocalFile& file, std::uint64_t size_bytes) override;
};

// The URL is resolved at once: its files are fetched with those of the lists.
class ResolvedPart final : public ListedPart {
 public:
  using ListedPart::ListedPart;
  void prepare() override;

 private:
  bool enter() override { return enter_files(outcome_.over_tls); }
  [[nodiscard]] std::string note() const override;
  std::optional<HubRevision> hub_;
};

}  // namespace sabath
