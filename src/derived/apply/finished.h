// What a step made of one input file: the note that is kept in the store when it is done, so that no call does it
// again. Content is in the store when the note is written. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/file_tree.h"
#include "sabath/path.h"

namespace sabath {

struct Output {
  RelativePath path;  // in the new asset
  FileTree tree;
  bool executable = false;
};

inline constexpr std::uint64_t note_bytes_max = 64 << 20;

[[nodiscard]] std::string encode_note(const std::vector<Output>& outputs);
[[nodiscard]] std::optional<std::vector<Output>> try_decode_note(std::string_view bytes);  // nullopt: it is damaged

}  // namespace sabath
