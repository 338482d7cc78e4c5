#include "store/disk/small_file.h"

#include <fcntl.h>

#include "base/file.h"
#include "sabath/error.h"

namespace sabath {

std::optional<std::string> try_read_small(const std::filesystem::path& file, std::uint64_t size_max) {
  try {
    return try_read_text(file, size_max);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::invalid) throw;
    return std::nullopt;
  }
}

std::optional<std::string> try_read_trusted(const Owners& owners, const std::filesystem::path& file,
                                            std::uint64_t size_max) {
  const auto fd = try_open_trusted(owners, file);
  struct stat s {};
  if (!fd || ::fstat(fd->get(), &s) != 0 || static_cast<std::uint64_t>(s.st_size) > size_max) return std::nullopt;
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  text.resize(read_at(fd->get(), std::as_writable_bytes(std::span(text)), 0, file));
  return text;
}

void replace_file(Temporaries& temporaries, const std::filesystem::path& file, const std::string& text, bool sync) {
  const auto temporary = temporaries.new_name();
  const Members& members = temporaries.members();
  Fd fd = members.create(temporary, O_WRONLY | O_CREAT | O_EXCL, own_file_mode);
  write_all(fd.get(), std::as_bytes(std::span(text)), temporary);
  if (sync) sync_file(fd.get(), temporary);
  close_file(std::move(fd), temporary);
  members.make_directories(file.parent_path());
  rename_path(temporary, file);
  if (sync) sync_directory(file.parent_path());
}

}  // namespace sabath
