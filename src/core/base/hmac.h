// Keyed hashes (RFC 2104) and base64 (RFC 4648), by OpenSSL. Pure; any thread. Throws Error{internal} without OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sabath {

// Raw bytes. `algorithm` is OpenSSL's name: "sha1", "sha256".
[[nodiscard]] std::string hmac(const char* algorithm, std::string_view key, std::string_view message);

[[nodiscard]] std::string to_base64(std::string_view bytes);                      // padded
[[nodiscard]] std::optional<std::string> try_from_base64(std::string_view text);  // padded, without white space

}  // namespace sabath
