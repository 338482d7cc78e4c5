// Small files that one lane has read, not hashed yet: several are hashed side by side, and go into a pack together.
// Used by one thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "fetch/transfer/hash_group.h"
#include "fetch/transfer/publisher.h"

namespace sabath {

struct SmallFile {
  std::vector<std::byte> content;
  std::size_t mirror = 0;  // index of the one that gave it
  std::string source;      // its name for messages
};

// Throws Error{content} if a small file is not what its manifest says.
void compare_digest(const FileJob& job, const Digest& digest, const std::string& source);
// Of content that is not pinned: until the fragment is settled only this says where the object came from.
void note_arrival(const FetchContext& context, const FileJob& job, const FileOutcome& outcome);

class SmallFiles {
 public:
  SmallFiles(FetchContext& context, const std::vector<FileJob>& jobs) : context_(context), jobs_(jobs) {}
  void expect() { group_.expect(); }
  void add(std::size_t index, SmallFile file);
  [[nodiscard]] bool empty() const { return group_.empty(); }
  [[nodiscard]] std::size_t size() const { return group_.size(); }
  [[nodiscard]] bool due() const { return group_.due(); }

  struct Refused {
    std::size_t index, mirror;
    Failure failure;
  };
  // Publishes all that are what they should be, completes their outcomes, and returns the others. Then it is empty.
  // Throws Error{space}, Error{storage}.
  [[nodiscard]] std::vector<Refused> settle(Publisher& publisher, std::vector<FileOutcome>& outcomes);
  [[nodiscard]] std::vector<std::byte> spare() { return group_.spare(); }

 private:
  struct Origin {
    std::size_t mirror;
    std::string source;
  };
  FetchContext& context_;
  const std::vector<FileJob>& jobs_;
  HashGroup group_;
  std::vector<Origin> origins_;  // of each in the group
};

}  // namespace sabath
