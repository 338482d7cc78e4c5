// Archives for tests, honest and hostile, made in memory. Throws std::runtime_error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sabath::test {

// One member of a tar as ustar headers say it: nothing is checked, so that anything can be said.
struct TarMember {
  std::string name;
  std::string content{};
  char type = '0';     // '0' file, '1' hard link, '2' symlink, '3' character device, '5' directory, '6' FIFO
  std::string link{};  // target
  unsigned mode = 0644;
  std::uint64_t size = UINT64_MAX;  // said instead of the content's
};

[[nodiscard]] std::string tar_of(const std::vector<TarMember>& members);  // with its end
[[nodiscard]] std::string tar_member(const TarMember& member);            // without
inline constexpr std::size_t tar_end_size = 1024;

// A pax header: "LENGTH KEY=VALUE\n".
[[nodiscard]] std::string pax(const std::string& key, const std::string& value, char type = 'x');
// A zip whose names are these bytes, said to be UTF-8, with what it holds as it is (not deflated). Its own count of
// bytes begins with `before`.
[[nodiscard]] std::string zip_of(const std::vector<TarMember>& members, const std::string& before = {});

// Through libarchive's own writers: formats "pax", "ustar", "zip"; filters "", "gzip", "zstd", "xz", "bzip2".
[[nodiscard]] std::string archive_of(const std::vector<TarMember>& members, const char* format, const char* filter);
[[nodiscard]] std::string compressed(const std::string& bytes, const char* filter);  // one raw stream

// A GNU sparse member (type 'S'): `data` at `offset`, holes around it up to `size`.
[[nodiscard]] std::string sparse_tar(const std::string& name, std::uint64_t offset, const std::string& data,
                                     std::uint64_t size);

}  // namespace sabath::test
