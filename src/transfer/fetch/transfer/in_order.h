// One file read by one lane from its start to its end: content whose chunk digests are not known, and small files.
//
// If the length is not known, this asks for the first chunk only; the lanes share the rest. Up to one chunk stays in
// memory and is written once; longer content goes to a resumable partial. Whole-file checksums are computed as the
// bytes pass. Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "base/hash.h"
#include "fetch/decide/job.h"
#include "fetch/hosts/context.h"
#include "fetch/hosts/guarded_sink.h"
#include "fetch/hosts/mirrors.h"
#include "fetch/transfer/kept.h"
#include "fetch/transfer/lane.h"
#include "fetch/transfer/publisher.h"
#include "fetch/transfer/small_files.h"
#include "fetch/transfer/spool.h"

namespace sabath {

class InOrder {
 public:
  // `watch`: of other processes that may be fetching it; nullptr: each process fetches its own.
  // `alone`: a small file is hashed and published here, not left to be so with others.
  InOrder(FetchContext& context, Publisher& publisher, Lane& lane, const FileJob& job, LeaderWatch* watch, bool alone);
  ~InOrder();
  // Before run():
  void distrust(std::size_t mirror, const Failure& failure) { mirrors_.demote(mirror, failure); }
  void leave_out(const MirrorSet::Heard& heard) { mirrors_.leave_out(heard); }
  FileOutcome run();  // throws what is fatal; the file's own failure is in the outcome
  // After run(): the file has several chunks and its source has ranges, so that the lanes may share it. The bytes
  // that were read stand in the partial.
  [[nodiscard]] std::optional<std::uint64_t> size_to_share() const { return size_to_share_; }
  // After run(): another process leads, and is to be followed. This one holds nothing.
  [[nodiscard]] bool gave_way() const { return gave_way_; }
  [[nodiscard]] std::uint64_t reused() const { return reused_; }  // bytes of an earlier fetch, still held
  // After run(), once: a small file that is read, and to be hashed with others. The outcome has no tree yet.
  [[nodiscard]] std::optional<SmallFile> take_small() { return std::exchange(small_, std::nullopt); }

 private:
  void attempt(const MirrorSet::Pick& pick, GuardedSink& sink);
  [[nodiscard]] Error taken(const MirrorSet::Pick& pick, const GuardedSink& sink, const Error& error);
  void after_failure(const MirrorSet::Pick& pick, const Error& error, bool complete, bool received);
  void on_begin(const MirrorSet::Pick& pick, const ContentInfo& info);
  void check_document(std::uint64_t size_bytes) const;
  void on_bytes(std::span<const std::byte> bytes);
  void resume_earlier();  // what another process left
  void lead_or_give_way();
  [[nodiscard]] bool leads();  // of several that began together, one goes on
  void give_way();
  void open_partial();
  [[nodiscard]] SourceVersion version_held() const;
  void flush_chunk();
  void restart();
  void finish(FileOutcome& outcome, std::size_t mirror);
  void hear(const ContentInfo& info);  // what the source says of the whole
  void for_held(const std::function<void(std::span<const std::byte>)>& take) const;
  [[nodiscard]] std::string whole_text();
  void publish_small(FileOutcome& outcome);
  [[nodiscard]] std::uint64_t position() const { return flushed_ + lane_.buffer.size(); }
  [[nodiscard]] std::optional<std::uint64_t> size_expected() const {
    return job_.known ? std::optional(job_.known->digest.size_bytes) : job_.size_bytes;
  }
  [[nodiscard]] bool provable() const { return !job_.checksum.empty() || job_.known.has_value(); }

  FetchContext& context_;
  Publisher& publisher_;
  Lane& lane_;
  const FileJob& job_;
  LeaderWatch* const watch_;
  const bool alone_;
  MirrorSet mirrors_;
  std::unique_ptr<OwnPartial> partial_;
  std::unique_ptr<ChecksumSet> checksums_;
  std::uint64_t flushed_ = 0;          // bytes of whole chunks in the partial
  std::size_t adopted_ = 0;            // bytes of the buffer that a dead writer's scratch gave
  std::uint64_t reused_ = 0;           // of what an earlier process left, and still held
  Kept kept_;                          // the same, as the display knows it
  std::uint64_t reserved_ = 0;         // of the disk
  Validators validators_;              // of the version we hold bytes of
  std::optional<std::size_t> holder_;  // the mirror that gave them; nullopt: an earlier process, from any
  std::size_t mirror_ = 0;             // the one that is read
  Checksums said_;                     // by the source, where nothing else proves the file
  std::string source_, how_sent_;      // the same, and what it does to its bytes; for messages
  std::set<std::size_t> givers_;       // mirrors whose bytes are held
  std::set<std::size_t> suspects_;     // mirrors whose bytes together were wrong
  bool mixed_ = false;                 // the bytes held are not all of one source
  bool doubted_ = false;               // nor of one version, by its name
  bool mixable_;                       // and may be so: the whole can be proved, and no mixture was wrong yet
  bool unchanged_ = false, gave_way_ = false;
  bool first_chunk_only_;  // it is not known whether the lanes may share the file
  std::optional<std::uint64_t> size_to_share_;
  std::optional<SmallFile> small_;
};

}  // namespace sabath
