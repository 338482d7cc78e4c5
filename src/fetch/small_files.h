// Small files that one lane has read and nobody has hashed: several are hashed side by side, as no one of them fills
// the lanes of the vector registers, and go into a pack together. Used by one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fetch/context.h"
#include "fetch/job.h"
#include "fetch/publisher.h"

namespace sabath {

struct SmallFile {
  std::vector<std::byte> content;
  std::size_t mirror = 0;  // index of the one that gave it
  std::string source;      // its name for messages
};

// What of a small file is not what its manifest says; throws that as Error{content}.
void compare_digest(const FileJob& job, const Digest& digest, const std::string& source);
// Of content that is not pinned: until the fragment is settled only this says where the object came from.
void note_arrival(const FetchContext& context, const FileJob& job, const FileOutcome& outcome);

class SmallFiles {
 public:
  static constexpr std::size_t content_max = 8 * leaf_size_bytes;  // bytes; what is longer fills the registers alone

  SmallFiles(FetchContext& context, const std::vector<FileJob>& jobs) : context_(context), jobs_(jobs) {}
  void add(std::size_t index, SmallFile file);
  [[nodiscard]] bool empty() const { return files_.empty(); }
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] bool due() const;  // there are enough, or the first has waited long enough

  struct Refused {
    std::size_t index, mirror;
    Failure failure;
  };
  // Publishes all that are what they should be, completes their outcomes, and returns the others. Then it is empty.
  // Throws Error{space}, Error{storage}.
  [[nodiscard]] std::vector<Refused> settle(Publisher& publisher, std::vector<FileOutcome>& outcomes);
  [[nodiscard]] std::vector<std::byte> spare();  // memory of contents that are settled, for the next one

 private:
  using Clock = std::chrono::steady_clock;
  FetchContext& context_;
  const std::vector<FileJob>& jobs_;
  std::vector<std::pair<std::size_t, SmallFile>> files_;
  std::vector<std::vector<std::byte>> spares_;
  std::uint64_t bytes_ = 0;
  Clock::time_point first_;
};

}  // namespace sabath
