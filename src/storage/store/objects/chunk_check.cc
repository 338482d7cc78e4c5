#include "store/objects/chunk_check.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/threads.h"
#include "manifest/file_tree.h"

namespace sabath {
namespace {
constexpr unsigned check_threads_max = 8;  // each holds a chunk in memory
}  // namespace

std::vector<Sha256> hash_chunks(int fd, std::uint64_t size_bytes, std::span<const std::uint64_t> indices,
                                const std::filesystem::path& name) {
  std::vector<Sha256> hashes(indices.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      std::vector<std::byte> buffer(std::min(size_bytes, chunk_size_bytes));
      for (std::size_t i; (i = next++) < indices.size();) {
        const auto chunk = std::span(buffer).first(chunk_length(size_bytes, indices[i]));
        if (read_at(fd, chunk, indices[i] * chunk_size_bytes, name) == chunk.size()) hashes[i] = hash_chunk(chunk);
      }
    } catch (...) {
      next = indices.size();
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(std::clamp(std::thread::hardware_concurrency(), 1U, check_threads_max), indices.size());
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads && try_add_thread(helpers, work); ++i) {}
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return hashes;
}

}  // namespace sabath
