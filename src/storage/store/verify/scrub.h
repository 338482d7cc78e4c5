// Reads files whole and compares their content with their digests, several files and several parts of a file at once.
// Counts the bytes as it reads them. Used by Store::verify: add() everything, then run() once. Throws only errors that
// no file is to blame for; an unreadable file is a finding.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "store/state.h"
#include "store/verify/verify.h"

namespace sabath {

class Scrub {
 public:
  struct Item {
    Digest digest;
    std::string path;              // in the asset; empty if it is not known
    bool in_view = false;          // a copy in the manifest's view, not the object
    const Manifest* of = nullptr;  // knows the chunk layer; outlives the scrub
    bool fully = false;            // a quick look was not enough
  };
  Scrub(Store::State& store, VerifyReport& report, const VerifyOptions& options);
  void add(Item item) { items_.push_back(std::move(item)); }
  // The manifests give a path and a chunk layer to bad content that was added without; they outlive the scrub.
  void ask(const std::vector<Manifest>& manifests) { manifests_ = &manifests; }
  void run();
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }  // when this verification began
  void blame(const Digest& file, const std::string& path, std::uint64_t chunk, std::string what,
             bool removed_link = false);
  void note_stray(const std::filesystem::path& file);

 private:
  struct Reading;
  struct Task {
    std::shared_ptr<Reading> reading;
    std::uint64_t first = 0, end = 0;  // chunks
  };
  [[nodiscard]] std::optional<Task> next();
  void work();
  void read(Reading& reading, std::uint64_t first, std::uint64_t end, std::vector<std::byte>& buffer);
  void judge(Reading& reading);
  void remember(const Reading& reading, const struct stat& now);
  void again(const Reading& reading, bool fully);
  void take_gone(const Reading& reading);  // it was collected meanwhile
  [[nodiscard]] bool is_strangers(const Reading& reading) const;
  void begin(Reading& reading);  // opens it; throws Error
  void name_bad_chunks(const Reading& reading, const std::string& aside);
  [[nodiscard]] std::optional<Item> try_recognise(const Digest& digest) const;
  [[nodiscard]] std::vector<Sha256> chunk_layer(const Item& item) const;  // empty: not known
  // Makes the good chunks a partial, so that only the others have to be fetched; returns how many.
  std::uint64_t salvage(const Reading& reading, const std::vector<Sha256>& layer);
  [[nodiscard]] std::string put_aside(const Reading& reading);  // returns what to report
  void remove_from_views();                                     // hard links of files that were put aside

  Store::State& store_;
  VerifyReport& report_;
  const VerifyOptions& options_;
  const std::int64_t now_ns_;
  std::deque<Item> items_;
  const std::vector<Manifest>* manifests_ = nullptr;
  std::mutex mutex_;  // of the report and of what follows
  Task current_;
  std::set<std::uint64_t> bad_inodes_;
  std::exception_ptr failure_;
};

}  // namespace sabath
