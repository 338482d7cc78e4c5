// trash/: what was collected and is not deleted yet. A batch mirrors the store's layout, so everything in it can go
// back to where it was by one rename. docs/store.md, "Collection". Owned by the Store; any thread. Throws Error{space},
// Error{storage}.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/disk/layout.h"
#include "store/disk/writer.h"
#include "store/hints/evidence.h"

namespace sabath {

// trash/<writer>+<n>/. Its state is a file in it, and that file's mtime is when it began.
struct Batch {
  enum class State { filling, whole, back, going };  // back: being taken back; going: being deleted
  std::filesystem::path directory;
  State state = State::filling;
  std::int64_t since_ns = 0;  // by the server's clock
  bool ours_or_dead = false;  // a filling one: nobody else fills it
};

class Trash {
 public:
  Trash(const Layout& layout, Evidence& evidence, const WriterId& writer)
      : layout_(layout), evidence_(evidence), writer_(writer) {}

  [[nodiscard]] std::vector<Batch> batches(std::int64_t now_ns) const;
  [[nodiscard]] Batch begin();
  // Steps of a batch; false: another process has taken the step, or has taken the batch away.
  bool end(Batch& batch);                 // everything is in it
  bool begin_deletion(Batch& batch);      // durable: none of it comes back from here on
  void end_deletion(const Batch& batch);  // also of what is in it still
  bool begin_undoing(Batch& batch);

  // Moves `path`, which is below the store, into the batch; false if it is not there (any more).
  bool discard(const Batch& batch, const std::filesystem::path& path);
  // Moves what stands in `batch` back to its place, unless something stands there.
  bool restore(const Batch& batch, const std::filesystem::path& in_batch);
  // An object, or a manifest, that is missed: if a batch has it, it goes back to its place.
  void recall(const std::filesystem::path& place) noexcept;
  // Visits every file of the batch that discard() has moved, and every directory that was moved whole.
  static void for_each(const Batch& batch, const std::function<void(const std::filesystem::path& in_batch)>& visit);
  void remove_empty(const Batch& batch) noexcept;

 private:
  bool move(const std::filesystem::path& from, const std::filesystem::path& to, const std::optional<Digest>& object);

  const Layout& layout_;
  Evidence& evidence_;
  const WriterId& writer_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace sabath
