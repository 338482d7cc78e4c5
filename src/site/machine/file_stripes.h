// A file's layout on Lustre's servers, by Lustre's own program. Free functions; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace sabath {

// Bytes of one stripe by `lfs getstripe -S`; `program` is looked up in PATH. nullopt: it is not there, this is no
// Lustre, or it did not answer in time. Throws Error{interrupted}.
[[nodiscard]] std::optional<std::uint64_t> lustre_stripe_bytes(const std::filesystem::path& file,
                                                               const std::string& program,
                                                               std::chrono::milliseconds deadline,
                                                               const std::stop_token& stop);
// Its answer: a number for each component of the file's layout, of which the largest counts; nullopt for any other
// text. Pure.
[[nodiscard]] std::optional<std::uint64_t> try_parse_lfs_stripe(std::string_view text);

}  // namespace sabath
