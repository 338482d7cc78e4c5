// Lets one thread read a file while another fetches it: an archive is unpacked as it arrives. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "store/partials/partial.h"

namespace sabath {

class SpoolFollower {
 public:
  // --- the fetching side
  void advance(OwnPartial& partial, std::uint64_t front);  // [0, front) can be read
  void restart();                                          // the source changed: what was read is worth nothing
  void let_go();                                           // the partial will be another object: waits for a read
  void finish(std::unique_ptr<OwnPartial> partial);        // whole, and its checksum matched
  void abandon();                                          // there will be no more

  // --- the reading side
  // Up to bytes.size() bytes at `offset`, waiting for them; 0 at the end. Throws Error{interrupted} after abandon(),
  // Error{changed} after restart() until begin() is called.
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> bytes);
  void begin();
  // For a reader that found fault: waits until no more will come. True: it is fetched anew, perhaps without the fault.
  [[nodiscard]] bool comes_anew();
  // After finish(): the whole spool, to be kept or thrown away. nullptr if it was abandoned.
  [[nodiscard]] std::unique_ptr<OwnPartial> take();
  [[nodiscard]] bool whole();

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  OwnPartial* partial_ = nullptr;
  std::unique_ptr<OwnPartial> owned_;
  std::uint64_t front_ = 0, read_end_ = 0;
  bool finished_ = false, abandoned_ = false, restarted_ = false;
};

}  // namespace sabath
