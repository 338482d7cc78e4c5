#include "base/file_hash.h"

#include <fcntl.h>

#include <span>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace sabath {

Sha256 sha256_of_file(const std::filesystem::path& file) {
  const Fd fd = open_file(file, O_RDONLY);
  StreamSha256 sum;
  std::vector<std::byte> piece(1 << 20);
  for (std::uint64_t offset = 0;;) {
    const std::size_t n = read_at(fd.get(), piece, offset, file);
    if (n == 0) return sum.finish();
    sum.update(std::span(piece).first(n));
    offset += n;
  }
}

}  // namespace sabath
