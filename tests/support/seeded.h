// Bytes that a test can make again anywhere: byte i of seed s is the same in every run, process and range.
// Pure, but for the files that it writes (throws std::runtime_error).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sabath::test {

void fill_seeded(std::uint64_t seed, std::uint64_t offset, std::span<char> bytes);
[[nodiscard]] std::string seeded_bytes(std::uint64_t seed, std::uint64_t offset, std::uint64_t length);
void write_seeded_file(const std::filesystem::path& path, std::uint64_t seed, std::uint64_t size);
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace sabath::test
