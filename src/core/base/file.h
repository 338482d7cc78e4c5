// Files by system calls: owned descriptors, whole reads and writes, every error checked and named. All functions throw
// Error: ENOSPC, EDQUOT, EFBIG and no inodes as `space`, anything else as `storage`.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sabath {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept;
  void reset() noexcept;

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC. `flags` as in open(2); mode 0666 less the umask when it creates.
[[nodiscard]] Fd open_file(const std::filesystem::path& path, int flags, mode_t mode = 0666);
[[nodiscard]] std::optional<Fd> try_open_file(const std::filesystem::path& path, int flags);  // nullopt: ENOENT

void write_all(int fd, std::span<const std::byte> bytes, const std::filesystem::path& name);
void write_all_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset, const std::filesystem::path& name);
// Reads up to bytes.size() at offset; fewer only at the end of the file.
[[nodiscard]] std::size_t read_at(int fd, std::span<std::byte> bytes, std::uint64_t offset,
                                  const std::filesystem::path& name);
void sync_file(int fd, const std::filesystem::path& name);  // fsync; a failure is final
void sync_directory(const std::filesystem::path& directory);
void close_file(Fd fd, const std::filesystem::path& name);  // where lost writes may be reported
// renameat(2): 0, or its errno. A directory that the filesystem does not move as one (in the lower layer of an overlay)
// moves entry by entry, where nothing stands at `to`; no symlink is followed.
[[nodiscard]] int rename_at(int from_directory, const char* from, int to_directory, const char* to) noexcept;
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);

// Whole small file; throws Error{invalid} when it is longer than `size_max`, nullopt when it is absent.
[[nodiscard]] std::optional<std::string> try_read_text(const std::filesystem::path& path, std::uint64_t size_max);
// "PATH.<16 hexadecimal digits>.ENDING": beside `path`, and unique.
[[nodiscard]] std::filesystem::path unfinished_name(const std::filesystem::path& path, std::string_view ending);
// Write to a temporary name beside it, fsync, rename, fsync the directory. `whatever_umask`: it has exactly this mode.
void write_text_atomically(const std::filesystem::path& path, std::string_view text, mode_t mode = 0644,
                           bool whatever_umask = false);

// Bytes that a file takes on the disk: stat(2) counts blocks of 512 bytes.
[[nodiscard]] inline std::uint64_t bytes_on_disk(const struct stat& s) {
  return static_cast<std::uint64_t>(s.st_blocks) * 512;
}

// `inner` is `outer` or lies in it, by their names alone; false if `outer` is empty.
[[nodiscard]] bool is_below(const std::filesystem::path& inner, const std::filesystem::path& outer);
void make_directories(const std::filesystem::path& path, mode_t mode = 0777);  // less the umask; all that are made
[[nodiscard]] std::optional<struct stat> try_stat(
    const std::filesystem::path& path);  // follows symlinks; nullopt: ENOENT, ENOTDIR
[[nodiscard]] std::optional<struct stat> try_lstat(const std::filesystem::path& path);
void remove_tree(const std::filesystem::path& path) noexcept;  // makes directories writable first; best effort
void remove_tree_at(int directory, const std::string& name) noexcept;

// The Error for errno after `what` failed on `path`.
[[noreturn]] void throw_errno(std::string_view what, const std::filesystem::path& path, int error);

}  // namespace sabath
