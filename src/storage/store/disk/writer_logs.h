// A directory in which each writer appends to its own log; all logs together, and those of trusted owners' directories,
// are one set of hints. A writer takes over
// the hints of dead writers: it appends them to its own log before it removes theirs. Not thread-safe. Throws nothing
// but std::bad_alloc.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "store/disk/members.h"
#include "store/disk/owners.h"
#include "store/disk/writer.h"

namespace sabath {

class WriterLogs {
 public:
  WriterLogs(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members = {});

  [[nodiscard]] std::filesystem::path own() const;  // may not be there yet
  // Calls `visit` for every log; reads again if logs came or went meanwhile, as hints that one writer took over from
  // another may have been missed in both. If `visit` throws Error, that log is skipped.
  void read(const std::function<void(const std::filesystem::path& log)>& visit) const;
  // Logs of writers that are dead, or cannot be judged and were silent for a day, owned by a trusted user.
  [[nodiscard]] std::vector<std::filesystem::path> of_the_dead() const;
  // Appends to our own log. False: it failed, and later appends fail too: nothing may follow a torn record.
  bool append(std::string_view records);

 private:
  [[nodiscard]] std::vector<std::filesystem::path> list() const;  // sorted
  [[nodiscard]] bool is_over(const WriterId& writer, const std::filesystem::path& log) const;

  const std::filesystem::path directory_;
  const WriterId writer_;
  const Owners& owners_;  // owners of trusted logs
  const Members members_;
  Fd log_;
  std::uint64_t log_size_ = 0;
  bool read_only_ = false;
};

}  // namespace sabath
