// One file to be fetched, and its outcome. Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/file_tree.h"
#include "sabath/error.h"
#include "sabath/fetcher.h"
#include "sabath/recipe.h"
#include "sabath/resolver.h"
#include "sabath/url.h"

namespace sabath {

class SpoolFollower;

inline constexpr std::uint64_t document_size_max = 4ULL << 30;
inline constexpr std::uint64_t list_size_max = 256ULL << 20;  // of a list whose size the recipe does not say

struct FileJob {
  std::string name;                  // for people: path in the asset, or the fragment's id
  std::vector<Url> urls;             // mirrors, after rewrite rules
  std::optional<Url> source;         // the first one before them: names what a checksum proves, with any settings
  std::vector<std::string> names{};  // of `urls`, in the store; empty: their texts say all
  bool shared = false;               // all ranks of a job are at it, this one among them
  bool listed = false;               // one of many of a list: its sources are counted by origin
  std::optional<FileTree> known;     // pinned: digest and chunk layer
  bool learnt = false;               // `known` is what these very sources gave before
  std::optional<std::uint64_t> size_bytes;
  std::uint64_t offset = 0;  // the file begins at this byte of its sources ...
  Validators version{};      // ... in this version of them, where it is not empty: another is Error{changed}
  Checksums checksum;
  PieceHashes pieces{};               // of unknown content: they tell a wrong chunk when it lands
  std::optional<Validators> unless;   // the version that we have: the answer `unchanged` is enough ...
  std::size_t unless_of = 0;          // ... of this mirror
  SpoolFollower* follower = nullptr;  // an archive: read as it arrives, not published
  // A document that is read before it is believed: throws Error to refuse this source. `source` is for its messages.
  // False: it is not to be published.
  std::function<bool(std::string text, const std::string& source)> inspect;
  std::uint64_t inspect_size_max = document_size_max;  // bytes; a longer document is Error{invalid}
};

// The name of a source of the job in records: sources of a list are counted by origin.
[[nodiscard]] inline std::string source_label(const FileJob& job, const Url& url) {
  return job.listed ? url.origin() + "/" : url.display();
}

struct FileOutcome {
  FileTree tree;                     // valid unless `failure`
  Validators validators;             // of the source that gave it
  Checksums computed;                // whole-file checksums that were compared
  std::optional<std::size_t> giver;  // the mirror, where one gave all of it
  bool over_tls = false;
  std::optional<Reach> reach{};  // of the farthest host that gave some of it; nullopt: not known
  bool unchanged = false;        // the source still has the version of `unless`
  std::optional<Failure> failure;
  // With a failure: mirrors whose file has another length than the one that was tried, which another mirror had named.
  std::set<std::size_t> of_other_size{};
};

}  // namespace sabath
