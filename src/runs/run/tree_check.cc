#include "run/tree_check.h"

#include <fcntl.h>

#include "base/file.h"
#include "manifest/file_tree.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::size_t named_max = 100;

bool is_known_object(Store* store, const Entry& entry, const struct stat& seen) {
  if (store == nullptr) return false;
  const auto object = try_stat(store->object_path(entry.digest));
  return object && object->st_ino == seen.st_ino && object->st_dev == seen.st_dev && store->present(entry.digest);
}

bool holds(const std::filesystem::path& file, const Entry& entry, const struct stat& seen) {
  if (static_cast<std::uint64_t>(seen.st_size) != entry.digest.size_bytes) return false;
  const Fd fd = open_file(file, O_RDONLY);
  return hash_file(fd.get(), entry.digest.size_bytes, file).digest == entry.digest;
}

}  // namespace

TreeCheck check_tree(Store* store, const Manifest& manifest, const std::filesystem::path& directory, bool full,
                     const std::stop_token& stop) {
  TreeCheck check;
  const auto name = [](std::vector<std::string>& list, const Entry& entry) {
    if (list.size() < named_max) list.push_back(entry.path.text());
  };
  manifest.for_each([&](const Entry& entry) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "stopped while the data were verified");
    const auto file = directory / entry.path.text();
    if (entry.type == EntryType::symlink) {
      std::error_code error;
      if (std::filesystem::read_symlink(file, error).string() != entry.target) name(check.wrong, entry);
      return;
    }
    const auto seen = try_stat(file);
    if (!seen) return name(check.missing, entry);
    if (entry.type == EntryType::directory) {
      if (!S_ISDIR(seen->st_mode)) name(check.wrong, entry);
      return;
    }
    if (!S_ISREG(seen->st_mode)) return name(check.wrong, entry);
    if (!full && is_known_object(store, entry, *seen)) return;
    check.read = true;
    if (!holds(file, entry, *seen)) name(check.wrong, entry);
  });
  return check;
}

}  // namespace sabath
