// A directory in which each writer appends to a log of its own, and all logs together are one set of hints. A writer
// takes over what dead ones left: it stands in its log before theirs go. Not thread-safe. Throws nothing but
// std::bad_alloc.
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
  // Calls `visit` for every log, some more than once: should logs come or go meanwhile, what one writer has taken over
  // from another may have been missed in both. What it throws of Error costs that log's hints.
  void read(const std::function<void(const std::filesystem::path& log)>& visit) const;
  // Of writers of this host that have ended, and that we trust.
  [[nodiscard]] std::vector<std::filesystem::path> of_the_dead() const;
  // To our own. False: it failed, and so will all later ones; nothing is appended after a torn record.
  bool append(std::string_view records);

 private:
  [[nodiscard]] std::vector<std::filesystem::path> list() const;  // sorted

  const std::filesystem::path directory_;
  const WriterId writer_;
  const Owners& owners_;  // whose logs are believed
  const Members members_;
  Fd log_;
  std::uint64_t log_size_ = 0;
  bool read_only_ = false;
};

}  // namespace sabath
