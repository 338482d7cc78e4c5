// Bytes from somewhere and to somewhere, a buffer at a time: what readers and writers of this room stand on, so that a
// format knows neither files nor compression. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"

namespace sabath {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At least one byte, at most `into.size()`; 0 only at the end. Throws Error.
  [[nodiscard]] virtual std::size_t read(std::span<char> into) = 0;
  // Passes over this number of bytes, or over those that are left; returns how many they were.
  virtual std::uint64_t skip(std::uint64_t bytes);
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;  // throws Error
};

// A file, or `length` bytes of it. It is told when the bytes end early.
class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::filesystem::path& path);
  FileBytes(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t length);
  [[nodiscard]] std::size_t read(std::span<char> into) override;
  std::uint64_t skip(std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return end_; }  // of the file, when it was opened
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  // Without moving: the bytes at an offset, fewer at the end.
  [[nodiscard]] std::string at(std::uint64_t offset, std::uint64_t length) const;

 private:
  std::filesystem::path path_;
  Fd fd_;
  std::uint64_t at_ = 0, end_ = 0;
};

// A part of a file that its owner keeps open, and that outlives it.
class FileSlice final : public ByteSource {
 public:
  FileSlice(const FileBytes& file, std::uint64_t offset,
            std::uint64_t length);  // throws Error{content}: it ends before
  [[nodiscard]] std::size_t read(std::span<char> into) override;
  std::uint64_t skip(std::uint64_t bytes) override;

 private:
  const FileBytes& file_;
  std::uint64_t at_, end_;
};

// A new file under a temporary name beside `path`, which finish() gives its name; without it the file is removed.
class NewFile final : public ByteSink {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile() override;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes) override;
  void write_at(std::string_view bytes, std::uint64_t offset);  // beside write(); any thread
  [[nodiscard]] const std::filesystem::path& unfinished() const noexcept { return unfinished_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  std::uint64_t finish();  // the file's length. The caller makes it durable.

 private:
  std::filesystem::path path_, unfinished_;
  Fd fd_;
  bool finished_ = false;
};

// Reads until `into` is full or the bytes end; returns how many there were.
[[nodiscard]] std::size_t read_full(ByteSource& source, std::span<char> into);
// The first bytes of a file, at most `bytes_max`.
[[nodiscard]] std::string first_bytes(const std::filesystem::path& path, std::size_t bytes_max);

}  // namespace sabath
