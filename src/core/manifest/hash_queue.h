// The work between the one thread that walks a directory and those that hash its files. Files wait in a bounded queue;
// a large file, once a worker has opened it, is shared out by chunk, and chunks go before files that wait. Any thread.
// After fail() both sides stop at once.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "sabath/digest.h"
#include "sabath/path.h"

namespace sabath {

struct HashJob {
  HashJob(RelativePath at, std::shared_ptr<const Fd> in) : path(std::move(at)), directory(std::move(in)) {}

  RelativePath path;
  std::shared_ptr<const Fd> directory;  // where the file stands
  Fd fd;                                // the rest is known once it is open
  struct stat status {};
  std::vector<Sha256> chunks;
  std::uint64_t next_chunk = 0;  // the queue's
  std::atomic<std::uint64_t> chunks_left{0};
};

struct HashTask {
  std::shared_ptr<HashJob> job;
  std::optional<std::uint64_t> chunk;  // absent: the file waits to be opened
};

class HashQueue {
 public:
  bool put(std::shared_ptr<HashJob> job);                        // waits for room; false: stop
  void end();                                                    // no more files will come
  [[nodiscard]] std::optional<HashTask> take();                  // nullopt: stop
  void opened(const std::shared_ptr<HashJob>& job, bool share);  // answers a task without a chunk; share: by chunk
  void fail(std::exception_ptr failure);
  void rethrow_failure();  // the first, if any; after the workers have ended

 private:
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::shared_ptr<HashJob>> files_;
  std::deque<std::shared_ptr<HashJob>> shared_;  // no more than there are workers
  std::size_t opening_ = 0;                      // files taken that may yet be shared
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace sabath
