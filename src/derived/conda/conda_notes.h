// What conda notes of packages: conda-meta/NAME.json of a prefix, info/index.json, info/paths.json and info/link.json
// of a package. Bounded; other keys are passed over. Pure; any thread. Throws Error{invalid} as "file:line: ...".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

inline constexpr std::uint64_t conda_note_max = 128 << 20;
inline constexpr std::size_t conda_paths_max = 1'000'000;

struct CondaPath {
  enum class Kind : std::uint8_t { file, symlink, folder };
  std::string path;  // below the prefix, or as the package has it
  Kind kind = Kind::file;
  std::string sha256;  // before a place was put in; empty: not stated
  std::optional<std::uint64_t> size_bytes;
  std::string placeholder;  // empty: the file names no place
  bool is_binary = false;   // how the placeholder stands in it
};

struct CondaRecord {
  std::string name, version, build, channel;
  std::string sha256;
  std::uint64_t size_bytes = 0;  // 0: not stated
  std::vector<CondaPath> paths;
};

struct CondaIndex {
  std::string name, version, build;
  bool is_noarch_python = false;
};

[[nodiscard]] CondaRecord parse_conda_record(std::string_view text, const std::string& origin);
[[nodiscard]] CondaIndex parse_conda_index(std::string_view text, const std::string& origin);
[[nodiscard]] std::vector<CondaPath> parse_conda_paths(std::string_view text, const std::string& origin);
// "NAME = MODULE:OBJECT" each.
[[nodiscard]] std::vector<std::string> parse_conda_entry_points(std::string_view text, const std::string& origin);
// A channel's URL or name without credentials and without the folder of a platform.
[[nodiscard]] std::string public_channel(std::string_view channel);

}  // namespace sabath
