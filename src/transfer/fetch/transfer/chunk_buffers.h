// Memory for chunks on their way, used again: fresh pages for each would cost as much as reading them. It is mapped by
// itself, in huge pages where the system has them: malloc would keep what goes back in the arena of the thread that
// took it. Thread-safe. Throws std::bad_alloc.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "sabath/digest.h"

namespace sabath {

class ChunkBuffers {
 public:
  static constexpr std::size_t idle_max = 4;  // as many as are given back before the next is taken
  // Goes back to the pool with its last owner, which must not outlive the pool.
  using Buffer = std::shared_ptr<std::byte[]>;
  [[nodiscard]] Buffer take() {
    Mapped bytes;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        bytes = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!bytes) bytes = map();
    return {bytes.release(), [this](std::byte* back) { give_back(Mapped(back)); }};
  }

 private:
  static constexpr std::size_t huge_page_size = std::size_t{2} << 20;
  struct Unmap {
    void operator()(std::byte* bytes) const noexcept { ::munmap(bytes, chunk_size_bytes); }
  };
  using Mapped = std::unique_ptr<std::byte[], Unmap>;

  // Aligned to a huge page, which the kernel alone would not do everywhere: what is too much at both ends goes back.
  static Mapped map() {
    constexpr std::size_t length = chunk_size_bytes + huge_page_size;
    void* const mapped = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % huge_page_size;
    if (before > 0) ::munmap(begin, before);
    ::munmap(begin + before + chunk_size_bytes, huge_page_size - before);
    ::madvise(begin + before, chunk_size_bytes, MADV_HUGEPAGE);
    return Mapped(begin + before);
  }

  void give_back(Mapped bytes) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < idle_max) idle_.push_back(std::move(bytes));
  }
  std::mutex mutex_;
  std::vector<Mapped> idle_;
};

}  // namespace sabath
