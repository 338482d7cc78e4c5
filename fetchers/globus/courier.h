// One file that Globus delivers: asked for, waited for, and taken away when it has been read. Beside it stands a ticket
// with the submission's identifier, written before the transfer is asked for. A later run or another process that finds
// the ticket submits the same again and is given the same task: a kill causes no second transfer.
// Shared by all lanes that read the file; the first one waits for Globus, the others for it. Throws Error.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/byte_set.h"
#include "globus/service.h"

namespace sabath::globus {

class Courier {
 public:
  Courier(const Service& service, const GlobusSettings& settings, const Url& url, std::chrono::seconds patience);
  [[nodiscard]] FileFacts facts(const Caller& caller);
  // The file, whole, in the directory that is ours. Blocks for as long as something happens.
  [[nodiscard]] std::filesystem::path bring(const Caller& caller);
  // A lane was given `got` of the bytes that it `asked` for.
  void note_read(ByteRange asked, std::uint64_t got);
  // All that lanes asked for, one of them got: the whole file, or what an earlier run had left to read.
  [[nodiscard]] bool is_read() const;
  void take_away() const noexcept;  // content and ticket

 private:
  struct Ticket {
    std::string submission_id;
    bool found = false;  // another process or run wrote it before us
  };
  [[nodiscard]] bool try_bring(const FileFacts& facts, const Caller& caller);
  [[nodiscard]] Ticket ticket_for(const FileFacts& facts, const Caller& caller) const;
  [[nodiscard]] std::optional<Ticket> try_read_ticket(const FileFacts& facts) const;
  [[nodiscard]] bool try_write_ticket(const std::string& submission_id, const FileFacts& facts) const;
  void wait_for(const std::string& task_id, const Caller& caller) const;
  [[nodiscard]] Task look_at(const std::string& task_id, unsigned& silent, const Caller& caller) const;
  [[nodiscard]] bool arrived(const FileFacts& facts, const Caller& caller) const;

  const Service& service_;
  const std::string url_;
  const Place from_, to_;
  const std::filesystem::path file_, ticket_file_;
  const std::chrono::seconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool bringing_ = false, here_ = false;
  std::optional<FileFacts> facts_;
  std::optional<Failure> failure_;  // of the last lane that brought it, for those that waited meanwhile
  bool read_ = false;               // a lane did
  ByteSet asked_, got_;
};

}  // namespace sabath::globus
