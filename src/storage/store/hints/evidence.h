// Evidence notes which files hold which content; it makes "present" cheap. Owned by the Store; any thread.
//
// Each writer appends to a log of its own; all logs together are one set of facts. They are hints: a lost one costs
// a re-hash, and a store that cannot be written keeps them in memory. Throws nothing but std::bad_alloc.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/disk/owners.h"
#include "store/disk/writer_logs.h"
#include "store/hints/evidence_log.h"

namespace sabath {

class Evidence {
 public:
  Evidence(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members = {});
  ~Evidence();

  // True if a fact says that the file with this stat holds `digest`.
  [[nodiscard]] bool matches(const Digest& digest, const struct stat& file);
  void add(const Digest& digest, const struct stat& file);  // the file's bytes were hashed, or it was linked
  // Forgets the facts of the content, in this process: the next look reads the file.
  void distrust(const Digest& digest);
  void flush();  // appends the added facts
  void tidy();   // takes over the logs of dead writers

 private:
  // 16 bytes of a fact: enough to tell facts apart, small enough for millions.
  struct Key {
    std::uint64_t content = 0, rest = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept { return key.content ^ key.rest; }
  };
  static Key key_of(const Fact& fact);

  // Whether a log has the fact; nullopt: there are many logs, which are better read, and taken over.
  [[nodiscard]] std::optional<bool> try_find(const Fact& wanted);
  void refresh();  // reads the facts that others have appended
  void fold(const std::vector<std::filesystem::path>& logs);
  void flush_locked();

  const Owners& owners_;  // owners of trusted logs
  std::mutex mutex_;      // of what follows
  WriterLogs logs_;
  bool loaded_ = false;
  unsigned searched_ = 0;  // look-ups before that
  std::chrono::steady_clock::time_point refreshed_{};
  std::unordered_set<Key, KeyHash> facts_;
  std::unordered_set<Sha256> distrusted_;
  std::map<std::filesystem::path, std::uint64_t> offsets_;  // how far each log has been read
  std::string pending_;
};

}  // namespace sabath
