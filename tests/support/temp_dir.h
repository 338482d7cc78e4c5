// A directory for one test, removed with everything below when the object goes. Throws std::system_error.
#pragma once

#include <filesystem>

namespace sabath::test {

class TempDir {
 public:
  TempDir();  // below TMPDIR or /tmp; anybody may read it, because servers run as other users
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& below) const { return path_ / below; }

 private:
  std::filesystem::path path_;
};

}  // namespace sabath::test
