// The other writers of a shared partial, as their journals and scratch files show them. Owned by a KnownPartial, under
// its mutex. Throws Error{storage}.
//
// A writer is active while its files grow, by this process's clock: no clocks are compared. A dead process of this
// machine is not active, however lately it wrote; a stopped one ceases to be after `quiet_max`.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/disk/writer.h"
#include "store/partials/journal.h"
#include "store/partials/scratch.h"

namespace sabath {

using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

class OtherWriters {
 public:
  OtherWriters(std::filesystem::path directory, WriterId self, const Sha256& key, std::vector<Sha256> expected,
               SteadyNow now);

  static constexpr auto quiet_max = std::chrono::seconds(10);
  static constexpr auto refresh_interval = std::chrono::milliseconds(100);

  bool refresh(bool at_once);  // otherwise at most once in the interval; true if it looked
  [[nodiscard]] bool any() const { return !writers_.empty(); }
  // A journal of another writer says that the chunk, with the right hash, is in the data file.
  [[nodiscard]] bool reports_done(std::uint64_t index) const { return reporter_[index] != nobody; }
  [[nodiscard]] bool reported_by_active(std::uint64_t index) const {
    return reports_done(index) && active(reporter_[index]);
  }
  void disbelieve(std::uint64_t index) { reporter_[index] = nobody; }  // the chunk was read, and is wrong
  void forget();  // all that was seen: the directory was replaced under the same name
  [[nodiscard]] bool claims(std::uint64_t index) const;
  // Of several writers that claimed one chunk at once, the one with the least name goes on.
  [[nodiscard]] bool goes_before_us(std::uint64_t index) const;
  // The chunks of which inactive writers left parts, and how many bytes. Parts already taken are left out.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> scratch_left();
  // The parts of the chunk that inactive writers left. Each file is given once for each chunk: should it be wrong, it
  // must not come back.
  [[nodiscard]] std::vector<ScratchBytes> take_scratch(std::uint64_t index, std::uint64_t length_max);

 private:
  static constexpr std::uint32_t nobody = UINT32_MAX;
  struct Writer {
    std::uint32_t number;
    std::string name;
    std::optional<WriterId> id;
    JournalReader journal;
    std::size_t done_seen = 0, claims_seen = 0;
    std::uint64_t scratch_bytes = 0, scratch_bytes_before = 0;
    std::chrono::steady_clock::time_point advanced{};
    bool dead = false, read_to_the_end = false;
  };
  struct ScratchFile {
    std::uint32_t writer = nobody;
    std::uint64_t size = 0, size_looked_at = 0;
    std::vector<ScratchPart> parts{};
  };
  void note_scratch(const std::string& name, const std::string& author, std::uint64_t size);
  // Calls `visit` with the file's name and each part that an inactive writer left and we have not taken.
  template <class Visit>
  void for_each_left(Visit&& visit);
  std::uint32_t writer_named(const std::string& name);
  void take_news(Writer& writer);
  [[nodiscard]] bool active(std::uint32_t number) const;

  const std::filesystem::path directory_;
  const WriterId self_;
  const std::string self_text_;
  const std::vector<Sha256> expected_;
  const Sha256 key_;
  const SteadyNow now_;
  std::chrono::steady_clock::time_point refreshed_{};
  bool ever_ = false;
  std::deque<Writer> writers_;
  std::map<std::string, std::uint32_t> by_name_;
  std::map<std::string, ScratchFile> scratch_;
  std::vector<std::uint32_t> reporter_;                                      // by chunk
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> claimants_;  // by chunk, if it is not done
  std::set<std::pair<std::string, std::uint64_t>> scratch_taken_;
};

}  // namespace sabath
