// RECORD of an installed package or a wheel: its files, with hashes and sizes (PEP 376, PEP 627). Pure, but for what
// describes a file. Throws Error{invalid} for what is no such list or is over a bound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct InstalledFile {
  std::string path;        // as it is written
  std::string hash, size;  // "sha256=<base64, as in file names>"; may be empty
};

[[nodiscard]] std::vector<InstalledFile> parse_installed_record(std::string_view text, const std::string& origin);
[[nodiscard]] std::string installed_record_text(const std::vector<InstalledFile>& files);  // sorted by path
// Of the digest's hexadecimal digits: base64 as RECORD has it, without the algorithm.
[[nodiscard]] std::string record_digest(std::string_view hex);
// Hash and size of a file as it is now.
void describe_installed(InstalledFile& row, const std::filesystem::path& file);

}  // namespace sabath
