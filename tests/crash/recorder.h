// Writes down what a traced program changes below one directory, and what it makes durable, so that the disk at any
// moment of it can be built again (tests/crash/disk_model.py says how). One thread. Throws std::runtime_error.
//
// A line for each change, in the order in which the calls returned; paths are relative to the directory, inodes are
// those of the machine that recorded:
//   make INODE PATH   mkdir INODE PATH   link INODE PATH   symlink PATH TARGET   rename PATH PATH   remove PATH
//   write INODE OFFSET SIZE, then that many bytes and a line feed   size INODE SIZE   mode INODE OCTAL
//   sync INODE   syncfs
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "tracer.h"

namespace sabath::crash {

class Recorder {
 public:
  Recorder(std::filesystem::path below, const std::filesystem::path& file);
  void before(const Stopped& stopped);
  void after(const Stopped& stopped, std::int64_t result);

 private:
  void made(const Stopped& stopped, int descriptor);
  void written(const Stopped& stopped, std::int64_t result);
  void sized(const Stopped& stopped);
  void named(const Stopped& stopped);
  void synced(const Stopped& stopped);
  void copied(const Stopped& stopped);
  [[nodiscard]] std::string relative(const std::filesystem::path& path) const;

  const std::filesystem::path below_;
  std::ofstream out_;
  std::map<pid_t, bool> stood_;  // by thread: whether the file that it opens was there before
};

}  // namespace sabath::crash
