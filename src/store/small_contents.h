// The content of small files between their last byte and their publication: in memory as long as that is little, then
// in one file that has no name. Owned by the Store and by who holds content; any thread. Throws Error{space},
// Error{storage}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/file.h"
#include "store/temporaries.h"

namespace sabath {

class SmallContents : public std::enable_shared_from_this<SmallContents> {
 public:
  explicit SmallContents(Temporaries& temporaries) : temporaries_(temporaries) {}

  // One file's content; gives its room back when it goes.
  class Held {
   public:
    Held() = default;
    Held(Held&& other) noexcept;
    Held& operator=(Held&& other) noexcept;
    ~Held();
    [[nodiscard]] std::vector<std::byte> read() const;

   private:
    friend class SmallContents;
    std::shared_ptr<SmallContents> all_;
    std::vector<std::byte> bytes_;  // empty: in the file
    std::uint64_t offset_ = 0, size_ = 0;
  };
  [[nodiscard]] Held hold(std::vector<std::byte> content);

 private:
  static constexpr std::uint64_t memory_max = 96ULL << 20;
  void give_back(const Held& held) noexcept;

  Temporaries& temporaries_;
  std::mutex mutex_;
  std::uint64_t in_memory_ = 0, in_file_ = 0, end_ = 0;
  Fd fd_;
};

}  // namespace sabath
