// A partial whose digests are not known: this writer's own directory, whose lanes write chunks in any order. It may
// begin with the directory of a dead writer of this machine. docs/store.md, "Partials". Different chunks may be written
// and read by different threads; everything else by one at a time.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "store/packs/stock.h"
#include "store/partials/journal.h"
#include "store/partials/partial.h"
#include "store/partials/scratch.h"

namespace sabath {

class UnknownPartial final : public OwnPartial {
 public:
  UnknownPartial(Stock& store, const Sha256& key);
  ~UnknownPartial() override;
  // Directories below partial/<key>/ that a writer may take over, the one with the most data first.
  [[nodiscard]] static std::vector<std::filesystem::path> ownerless(Stock& store, const Sha256& key);

  std::vector<bool> chunks_done() override;
  std::vector<ScratchBytes> adopt_scratch(std::uint64_t index) override;
  std::map<std::uint64_t, std::uint64_t> scratch_left() override;

  void adopt_front(const SourceVersion& expected, const std::function<void(std::span<const std::byte>)>& tee) override;
  SourceVersion version_noted() const override;
  void note_version(const SourceVersion& version, std::optional<std::uint64_t> size_bytes) override;
  void claim_lead() override;
  std::uint64_t front() const override;
  void write_unhashed(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes) override;
  void note_hash(std::uint64_t index, std::uint64_t length, const Sha256& hash) override;
  void restart() override;

  void write_scratch(unsigned lane, std::uint64_t index, std::uint64_t offset, std::span<const std::byte> part,
                     std::size_t fresh) override;
  void write_chunk(unsigned lane, std::uint64_t index, std::span<const std::byte> bytes, const Sha256& hash) override;
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes) override;
  FileTree publish() override;
  void discard() override;

 private:
  void take_directory();
  void write_bytes(std::uint64_t index, std::span<const std::byte> bytes);
  void begin_journal();  // the mutex is held, as for the next two
  void note_done(std::uint64_t index, std::uint64_t length, const Sha256& hash);
  [[nodiscard]] std::uint64_t front_bytes() const;
  [[nodiscard]] std::vector<std::filesystem::path> foreign_scratch() const;  // earlier owners'
  void remove_foreign(std::string_view prefix) noexcept;                     // earlier owners' files
  [[nodiscard]] std::multimap<std::uint64_t, Sha256> journaled() const;      // by its earlier owners
  void forget_earlier();                                                     // adopted, but never looked at: begin anew

  Stock& store_;
  const Sha256 key_;
  const std::filesystem::path directory_, data_path_;
  const std::string name_;  // the directory's own: of its journal and scratch files too
  Fd data_;
  std::atomic<bool> unexamined_{false};  // it holds an earlier owner's data
  bool over_ = false;                    // published or discarded
  std::uint64_t tail_index_ = 0;
  std::vector<std::byte> tail_;                  // an earlier owner's short last chunk, as journaled
  std::map<std::uint64_t, std::uint64_t> left_;  // of earlier owners' scratch: bytes by chunk; under the mutex
  ScratchLanes scratch_;

  mutable std::mutex mutex_;  // of what follows
  JournalWriter journal_;
  std::vector<std::optional<Sha256>> hashes_;  // by chunk; nullopt: not there
  std::uint64_t front_chunks_ = 0;             // of them, without a gap from the first
  std::uint64_t end_ = 0;                      // of the last chunk that is there
};

}  // namespace sabath
