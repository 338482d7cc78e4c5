// A self-signed certificate of a server of this machine, which is its own authority. Throws std::runtime_error.
#pragma once

#include <filesystem>
#include <string>

namespace sabath::test {

struct Certificate {
  std::filesystem::path file, key;  // PEM
};

// Made by openssl in `directory`, for a name; "localhost" has 127.0.0.1 beside it.
[[nodiscard]] Certificate make_certificate(const std::filesystem::path& directory, const std::string& name);

}  // namespace sabath::test
