// tmp/<writer>/: what this writer has not published yet. Owned by the Store; any thread. Throws Error{space},
// Error{storage}.
//
// The first use removes what dead writers of this machine left, a bounded number of them.
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
  // A new file that nobody else can open for writing: what is finished needs no seal (git's objects are made so, too).
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
