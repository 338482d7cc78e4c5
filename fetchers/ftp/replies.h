// The server's replies about a file: SIZE and MDTM (RFC 3659), both answered by code 213. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath {

struct FtpFacts {
  std::optional<std::uint64_t> size_bytes;
  std::string modified;  // YYYYMMDDHHMMSS as the server wrote it; empty if it did not say
  std::string refusal;   // the last reply that refused something for good, with its code
};

// Of a refusal: it is not that the file is not there. Servers have one code, 550, for both, and words of their own.
[[nodiscard]] bool says_no_permission(std::string_view refusal);

// One reply line. MDTM is asked before SIZE, and a file whose length reads like a time is improbable enough.
void note_reply(FtpFacts& facts, std::string_view line);

}  // namespace sabath
