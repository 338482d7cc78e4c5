// A recipe: JSON data that says what an asset is, where its bytes may come from, how it runs. Never code.
// Reference: docs/recipes.md. Values only; made by src/catalogue/recipe, which checks everything that is said here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/asset_kind.h"
#include "sabath/digest.h"
#include "sabath/host_rule.h"
#include "sabath/path.h"
#include "sabath/recipe_check.h"
#include "sabath/supporting.h"
#include "sabath/url.h"

namespace sabath {

struct Metadata;  // sabath/metadata.h

// Published whole-file checksums: lower-case hexadecimal, empty if not published.
struct Checksums {
  std::string md5{}, sha1{}, sha256{}, sha224{}, sha384{}, sha512{};
  std::string git{};  // git's name of a blob: SHA-1 of "blob SIZE", NUL and the bytes. Hubs say it; no recipe does
  [[nodiscard]] bool empty() const;
  friend bool operator==(const Checksums&, const Checksums&) = default;
};

struct ChecksumAlgorithm {
  std::string_view name;  // OpenSSL's, and of recipes, bags and stores
  std::string_view iana;  // of metalinks and HTTP headers
  std::size_t digits;     // hexadecimal
  std::string Checksums::*value;
  bool finds;                                                        // stores find content by it, and say so to others
  [[nodiscard]] constexpr bool spells(std::string_view hex) const {  // in lower case
    return hex.size() == digits && hex.find_first_not_of("0123456789abcdef") == hex.npos;
  }
};
// All that are computed. Those that find content come in the order in which a store is asked.
inline constexpr std::array<ChecksumAlgorithm, 6> checksum_algorithms{
    {{"sha256", "sha-256", 64, &Checksums::sha256, true},
     {"sha1", "sha-1", 40, &Checksums::sha1, true},
     {"md5", "md5", 32, &Checksums::md5, true},
     {"sha512", "sha-512", 128, &Checksums::sha512, false},
     {"sha384", "sha-384", 96, &Checksums::sha384, false},
     {"sha224", "sha-224", 56, &Checksums::sha224, false}}};

// Needs the file's size before its first byte, and stands in no recipe.
inline constexpr ChecksumAlgorithm git_blob{"git blob", "git blob", 40, &Checksums::git, false};

// By either name, in lower case; nullptr: it is not computed here.
[[nodiscard]] constexpr const ChecksumAlgorithm* find_checksum_algorithm(std::string_view name) {
  const auto* found = std::ranges::find_if(
      checksum_algorithms, [&](const auto& algorithm) { return algorithm.name == name || algorithm.iana == name; });
  return found == checksum_algorithms.end() ? nullptr : found;
}

inline bool Checksums::empty() const {
  const auto none = [&](const auto& each) { return (this->*each.value).empty(); };
  return std::ranges::all_of(checksum_algorithms, none) && git.empty();
}

enum class FragmentType { file, archive, file_list };

struct Fragment {
  std::string id;
  FragmentType type = FragmentType::file;
  std::optional<RelativePath>
      path;               // where it stands in the view; file: its name, else the directory; absent: the root
  std::vector<Url> urls;  // mirrors of the same bytes, at least one
  std::optional<std::uint64_t> size_bytes;
  std::optional<std::uint64_t> limit;  // file_list: only the first N files
  Checksums checksum;
};

struct ManifestPin {
  Sha256 digest;          // of the root
  std::vector<Url> urls;  // where the manifest file may be had; may be empty
};

enum class AccessKind { open, login, restricted };

struct Access {
  AccessKind kind = AccessKind::open;  // JSON: "public", "login", "private"
  std::vector<std::string> steps;      // what a person must do first
};

struct GitSource {
  std::string origin;               // https, http, ssh, git or file URL
  std::string branch, tag, commit;  // at most one is not empty; none: the default branch
  std::optional<Namer> namer{};     // as of a URL
};

struct Step {
  std::vector<std::string> argv;  // with placeholders: recipe/command_template.h
  bool shell = false;             // argv has one element: text for a shell
  bool parallel = false;          // started by the launcher, once for each rank
};

using RunSets = std::vector<std::pair<std::string, std::vector<Step>>>;  // by dataset name, in the recipe's order

struct Requirements {
  std::string python;
  std::vector<std::string> pip, conda, system_modules;
  std::string environment;          // a packed one: "NAME", or "NAME@sha256:HEX" with its root
  std::vector<RecipeCheck> checks;  // before a launch
};

struct Recipe {
  int schema = 1;
  AssetKind kind = AssetKind::dataset;
  std::string name;
  std::string version, title, abstract_text, description, homepage, licence;  // empty: unknown (JSON null)
  std::vector<std::string> references, citation;
  Access access;
  HostLimits limits;                // of each host of its fragments
  std::optional<Reach> reach;       // its URLs lead to no nearer hosts: a document that stands so far away named them
  std::vector<Fragment> fragments;  // may be empty for a dataset that is had by hand: access.steps
  std::optional<ManifestPin> manifest;
  std::optional<GitSource> git;
  std::vector<GitSource> forks;
  std::optional<RelativePath> source;  // instead of git: a directory of code beside the recipe's file
  std::string default_dataset;         // model: what `fetch MODEL` takes along; empty: the first run set
  Requirements requirements;
  std::map<std::string, std::string> env_vars;
  RunSets run, infer;                           // training, and inference
  std::map<std::string, std::string> config;    // defaults of {config.KEY}
  std::vector<std::string> metrics;             // patterns with named groups, for what the run prints
  std::map<std::string, std::string> metadata;  // free facts: samples, shapes, target, ...
  std::vector<SupportingScript> supporting;     // what `apply` can do to its data, besides what is built in
  std::optional<DerivationStep> derived;        // of a derived asset
  std::string origin;                           // the file it was read from
  std::shared_ptr<const Metadata> about;        // metadata_of(); null: the recipe says nothing
};

[[nodiscard]] std::string_view access_name(AccessKind kind);
[[nodiscard]] std::optional<AccessKind> try_parse_access(std::string_view text);
[[nodiscard]] std::string_view fragment_type_name(FragmentType type);
[[nodiscard]] std::optional<std::uint64_t> known_size(const Recipe& recipe);  // of all fragments, when each says

}  // namespace sabath
