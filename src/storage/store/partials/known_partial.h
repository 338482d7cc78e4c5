// A partial whose chunk digests are known: one data file, any number of writers. docs/store.md, "Partials".
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "store/packs/stock.h"
#include "store/partials/journal.h"
#include "store/partials/other_writers.h"
#include "store/partials/partial.h"
#include "store/partials/scratch.h"

namespace sabath {

class KnownPartial final : public SharedPartial {
 public:
  KnownPartial(Stock& store, const Digest& digest, std::vector<Sha256> chunks,
               SteadyNow now = std::chrono::steady_clock::now);
  ~KnownPartial() override;

  std::vector<bool> chunks_done() override;
  std::vector<ScratchBytes> adopt_scratch(std::uint64_t index) override;
  std::map<std::uint64_t, std::uint64_t> scratch_left() override;
  std::uint64_t claim_run(std::uint64_t first, std::uint64_t count) override;
  void release(std::uint64_t index) override;
  bool claimed_by_other(std::uint64_t index) override;

  void write_scratch(unsigned lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> part,
                     std::size_t fresh) override;
  void write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes, const Sha256& hash) override;
  void copy_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes, const Sha256& hash,
                  const ChunkOrigin& origin) override;
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override;
  FileTree publish() override;
  void discard() override;

 private:
  // The mutex is held in all of these.
  [[nodiscard]] std::shared_ptr<Fd> open_data();
  [[nodiscard]] bool at_its_name() const;  // the data file is still the one that we opened
  // True: another writer has published it, and nothing is left to do. Else restores a data file that lost its name.
  [[nodiscard]] bool published_by_other();
  void come_back();
  void note_done(std::uint64_t index);
  static constexpr std::chrono::milliseconds give_way_max{50};
  [[nodiscard]] std::uint64_t await_way(std::unique_lock<std::mutex>& lock, std::uint64_t first, std::uint64_t end);
  // Reads the chunks that others report, all or only inactive writers'; a wrong chunk is missing again.
  void check_reported(bool all);
  [[nodiscard]] FileTree tree() const { return {digest_, chunks_}; }

  Stock& store_;
  const Digest digest_;
  const std::vector<Sha256> chunks_;
  const std::filesystem::path directory_, data_path_;

  std::mutex mutex_;          // of what follows
  std::shared_ptr<Fd> data_;  // lanes write to the one that they saw; none once it is published
  bool promised_ = false;     // the disk has promised room for all of it
  JournalWriter journal_;
  OtherWriters others_;
  std::vector<bool> done_;  // by us, or read and found right
  bool published_ = false, discarded_ = false;

  ScratchLanes scratch_;  // has its own mutex
};

}  // namespace sabath
