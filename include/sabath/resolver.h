// The resolver contract: one URL that stands for many files, turned into a bounded list of them. A resolver asks a
// catalogue, a directory or a bucket, and moves no content. fetchers/README.md shows how to write one.
//
// A resolver has no retries and no sleeps: it makes each request within Inquiry::attempt(), which its caller
// lends, and which repeats, counts and bounds. One object serves many threads at once. Throws Error{invalid}
// for a name that no file may have and for a list without an end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/fetcher.h"
#include "sabath/path.h"
#include "sabath/recipe.h"
#include "sabath/url.h"

namespace sabath {

// Hashes of equal pieces of a file, as a metalink publishes them; the last piece may be shorter.
struct PieceHashes {
  std::string algorithm;     // a name of checksum_algorithms; empty: none are known
  std::uint64_t length = 0;  // bytes of a piece
  std::string hex;           // one after the other, lower case
};

struct ListedFile {
  RelativePath path;      // where it stands below the fragment
  std::vector<Url> urls;  // mirrors, the best first; at least one
  std::optional<std::uint64_t> size_bytes;
  Checksums checksum;
  PieceHashes pieces{};
  std::string unchecked{};  // by what it is published as well, and what is not computed here
};

// A repository of Hugging Face's hub, or of one that speaks like it, at one commit; a directory of it, or a part.
struct HubRevision {
  std::string kind;        // "models", "datasets", "spaces"
  std::string repository;  // "OWNER/NAME"; of some old ones "NAME"
  std::string commit;      // 40 hexadecimal digits
  std::string revision;    // the branch or tag that was asked for, or the commit
  std::string top;         // the directory at which the paths begin; empty: that of all
  std::string below;       // in an asset: where its files stand; empty: at the root
  bool whole = false;      // every file of the repository at this commit
  bool open = false;       // the hub gave it to a client without credentials
  friend bool operator==(const HubRevision&, const HubRevision&) = default;
};

struct Listing {
  std::vector<ListedFile> files;
  std::string version;    // what the URL stood for when it was asked: a commit, a digest; empty: the source has none
  bool over_tls = false;  // every answer was
  std::optional<HubRevision> hub{};
};

// What a source says of an asset to people and catalogues.
struct SourceDocument {
  std::string text;  // a document of a standard: DataCite, Croissant, schema.org, a card
  Url url;           // where it stands
};

class Inquiry {
 public:
  virtual ~Inquiry() = default;
  // Where a request that is meant for `url` is to go on this site.
  [[nodiscard]] virtual Url rewritten(const Url& url) const = 0;
  // Makes one request to `url`, again where that may help, and counts it there. Throws what the last try threw, and
  // Error{invalid} where there is no end of requests, bytes or time.
  virtual void attempt(const Url& url, const std::function<void(Traffic&)>& request) = 0;
  // A whole document, by the fetcher of its scheme. nullopt: it is not there. Throws Error, and Error{invalid} for one
  // that is longer than `size_max` bytes.
  [[nodiscard]] virtual std::optional<std::string> document(const Url& url, std::size_t size_max) = 0;
  [[nodiscard]] virtual std::stop_token stop() const = 0;
};

class Resolver {
 public:
  virtual ~Resolver() = default;
  // False: the URL is that of one file or document, to be read by a fetcher.
  [[nodiscard]] virtual bool lists(const Url& url) const = 0;
  [[nodiscard]] virtual Listing resolve(const Url& url, Inquiry& inquiry) = 0;
  // nullopt: the source says nothing of that kind.
  [[nodiscard]] virtual std::optional<SourceDocument> describe(const Url&, Inquiry&) { return std::nullopt; }
};

constexpr std::size_t listed_files_max = 10'000'000;

}  // namespace sabath
