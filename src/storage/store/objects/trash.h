// trash/: collected content that is not deleted yet. A batch mirrors the store's layout, so everything in it can go
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
  bool ours_or_dead = false;  // if filling: no other live writer fills it
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
  void end_deletion(const Batch& batch);  // also deletes what is still in it
  bool begin_undoing(Batch& batch);

  // Moves `path`, which is below the store, into the batch; false if it is not there (any more).
  bool discard(const Batch& batch, const std::filesystem::path& path);
  // Moves a file or directory of `batch` back to its place, unless something stands there.
  bool restore(const Batch& batch, const std::filesystem::path& in_batch);
  // Moves a missed object or manifest back to its place, if a batch has it.
  void recall(const std::filesystem::path& place) noexcept;
  // Visits every file and every whole directory that discard() moved into the batch.
  static void for_each(const Batch& batch, const std::function<void(const std::filesystem::path& in_batch)>& visit);

 private:
  bool bring_back(const std::filesystem::path& from, const std::filesystem::path& place);
  bool move(const std::filesystem::path& from, const std::filesystem::path& to, const std::optional<Digest>& object);

  const Layout& layout_;
  Evidence& evidence_;
  const WriterId& writer_;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace sabath
