#include "assembly/content_copy.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <vector>

#include "base/file.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {

void copy_proven(Store& store, const Digest& content, const std::filesystem::path& copy, const std::string& name,
                 const std::stop_token& stop) {
  const auto opened = store.open_content(content);
  if (!opened)
    throw Error(FailureKind::storage, fmt::format("{} vanished from the store", printable(name)), "run again");
  const Fd out = open_file(copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  FileHasher hasher;
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t at = 0; at <= content.size_bytes;) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
    const std::size_t got = opened->read(at, buffer);
    if (got == 0) break;
    const auto bytes = std::span(buffer).first(got);
    hasher.update(bytes);
    write_all(out.get(), bytes, copy);
    at += got;
  }
  if (hasher.finish().digest != content)
    throw Error(FailureKind::content,
                fmt::format("{} was changed in the store: its bytes are not those that were verified", printable(name)),
                "verify the store, and run again: another member of it may have written the file");
}

}  // namespace sabath
