// hf:// URLs, as the hub's own tools write them: hf://datasets/OWNER/NAME[@REVISION][/PATH]; models without a folder:
// hf://OWNER/NAME. And the hub's answers about a tree (GET /api/.../tree). Pure; any thread.
// Throws Error{unavailable} for a URL that names no repository, Error{invalid} for answers that break their bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/resolver.h"
#include "sabath/url.h"

namespace sabath::hf {

struct Place {
  std::string kind;        // "models", "datasets", "spaces": as the API has it
  std::string repository;  // "OWNER/NAME"
  std::string revision;    // a branch, tag or commit; empty: the default branch
  std::string path;        // percent-decoded; empty: the top; may end in '/' or be a pattern

  // Paths on the hub, encoded; each begins with '/'.
  [[nodiscard]] std::string revision_path() const;
  [[nodiscard]] std::string tree_path(const std::string& commit, const std::string& directory) const;
  [[nodiscard]] std::string content_path() const;
  [[nodiscard]] Url url_of(const std::string& commit, const std::string& file) const;  // hf://...
};

[[nodiscard]] Place place_of(const Url& url);
[[nodiscard]] std::optional<Place> try_place_of(const Url& url);
[[nodiscard]] bool is_commit(std::string_view text) noexcept;  // 40 hexadecimal digits

// The commit that a revision is now: the key "sha" of a repository's description.
[[nodiscard]] std::string parse_commit(std::string_view body, const std::string& source);

struct TreeFile {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string sha256{};  // of content that lies in LFS
  std::string git{};     // of other content: git's name of the blob; empty: the hub does not say
};
[[nodiscard]] std::vector<TreeFile> parse_tree(std::string_view body, const std::string& source);

}  // namespace sabath::hf
