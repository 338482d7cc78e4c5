// tmp/<writer>/: files that this writer has not published yet. Owned by the Store; any thread. Throws Error{space},
// Error{storage}.
//
// The first use removes leftovers of dead writers of this machine, a bounded number of them.
#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>

#include "base/file.h"
#include "store/disk/layout.h"
#include "store/disk/writer.h"

namespace sabath {

class Temporaries {
 public:
  Temporaries(const Layout& layout, WriterId writer);
  ~Temporaries();                                  // removes the directory
  [[nodiscard]] std::filesystem::path new_name();  // in a directory that exists; nothing has this name yet
  [[nodiscard]] std::filesystem::path new_directory();
  struct File {
    std::filesystem::path path;
    Fd fd;  // to read and to write
  };
  // A new read-only file, open here for writing: once finished it needs no seal (git makes its objects so, too).
  [[nodiscard]] File new_file();
  [[nodiscard]] const Members& members() const { return members_; }

 private:
  [[nodiscard]] std::string next_name();
  void remove_leftovers() noexcept;

  const std::filesystem::path all_;  // tmp/
  const Members members_;
  const WriterId writer_;
  const std::filesystem::path directory_;
  std::atomic<std::uint64_t> next_{0};
  std::once_flag used_;
};

}  // namespace sabath
