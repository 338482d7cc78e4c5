// What a client of Hugging Face's kind asks a hub for, by the path of its request. docs/huggingface.md, "Serve". Pure;
// any thread.
//
// The grammar is strict: kind, repository, revision and path are what a hub allows, decoded once; nothing of it becomes
// part of a file's name on disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

struct HubTarget {
  enum class What { info, tree, content } what = What::info;
  std::string kind;        // "models", "datasets", "spaces"
  std::string repository;  // "OWNER/NAME" or "NAME"
  std::string revision;    // a branch, a tag or a commit
  std::string path;        // tree: a directory, empty for the top; content: a file
};

// `path`: as it was written, without a query. nullopt: no path of a hub.
[[nodiscard]] std::optional<HubTarget> try_parse_hub_target(std::string_view path);

// Each %XX is a byte. nullopt: some '%' is followed by less, or the byte is 0.
[[nodiscard]] std::optional<std::string> try_decode_percent(std::string_view text);

}  // namespace sabath
