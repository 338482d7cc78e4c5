// Arguments and results of a Store: room, refs, arrivals, reports. Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/digest.h"
#include "sabath/fetcher.h"
#include "sabath/url.h"

namespace sabath {

struct Space {
  std::uint64_t bytes_free = 0;   // for this user
  std::uint64_t inodes_free = 0;  // UINT64_MAX where the filesystem does not count them
};

// Names a source in the store: its URL as this user asks for it. Made without a function: URLs say all.
class SourceNames {
 public:
  using Name = std::function<std::string(const Url&)>;
  SourceNames() = default;
  // `settings`: stands for all settings that change what URLs mean; empty: none does.
  explicit SourceNames(Name name, std::string settings = "") : name_(std::move(name)), settings_(std::move(settings)) {}
  explicit operator bool() const { return static_cast<bool>(name_); }
  [[nodiscard]] std::string operator()(const Url& url) const { return name_(url); }
  [[nodiscard]] const std::string& settings() const { return settings_; }

 private:
  Name name_;
  std::string settings_;
};

// The version and the source that bytes came from: one source's validators say nothing about another's.
struct SourceVersion {
  Validators validators;
  std::string source;  // as its reader names it; empty: not known
  friend bool operator==(const SourceVersion&, const SourceVersion&) = default;
};

// How a root became trusted for a source: kept in refs/.
struct Ref {
  Sha256 root;             // of the manifest
  std::string trusted_by;  // "pinned", "checksum", "first use over TLS", "first use", "git commit"
  Validators validators;   // of the source, when it had any
  std::int64_t time = 0;   // seconds since 1970, for people
  std::string source;      // display URL, for people
  std::string note;        // e.g. the git commit
  std::string proved{};    // of "checksum": what was compared, as its reader will state it
};
// Of a ref of an earlier SABATH, which did not note what it proved: its name is made of it.
inline constexpr std::string_view proved_by_name = "its name";

// A ref of another member of a shared store, which this user's settings do not trust.
struct ForeignRef {
  std::uint32_t owner = 0;  // user id
  Ref ref;
};

// A file that a source gave.
struct Arrival {
  Digest digest;
  bool over_tls = false;
  std::optional<Reach> reach{};  // of the farthest host that gave some of it; nullopt: not known
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

// A bad chunk that a verification found.
struct BadChunk {
  Digest file;
  std::string path;  // in the asset, or below the store; empty if it is not known
  std::uint64_t index, offset;
  std::string what;           // what is wrong, and what was done about it
  bool removed_link = false;  // of a view, to a bad object that is named as well
};

// A file or directory where objects stand that is none: some user put it there.
struct Stray {
  std::string path;  // below the store
  std::uint32_t owner = 0;
};

struct VerifyReport {
  std::uint64_t files = 0, bytes_read = 0, missing = 0;
  std::uint64_t copies = 0;  // of these files in a view: read as well
  std::vector<BadChunk> bad;
  std::vector<std::string> missing_paths;
  std::vector<Stray> strays;                // left where they are
  std::uint64_t quick = 0, remembered = 0;  // files: read, but by XXH3; not read, as they were lately
};

// How the files of a tree are made. Executables and members of packs are always copies.
enum class TreeFiles {
  shared,    // clones or hard links of objects; symlinks to another user's; copies where nothing else goes
  symlinks,  // to objects
  copies,    // nothing in the tree is the store's
};

}  // namespace sabath
