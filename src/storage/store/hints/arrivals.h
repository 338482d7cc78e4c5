// Arrivals note the file that a source gave as soon as it is whole: an interrupted fetch of a list, or of an asset of
// several files, goes on where it stopped. docs/store.md, "Arrivals". Owned by the Store; any thread.
//
// Each writer appends to a log of its own; of several notes of one source the newest counts. They are hints: the object
// must still be present, and a lost note costs a fetch. Throws nothing but std::bad_alloc.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/disk/owners.h"
#include "store/disk/store_values.h"
#include "store/disk/writer_logs.h"

namespace sabath {

struct ArrivalNote {
  Sha256 source;
  Arrival arrival;
  std::int64_t time_ns = 0;  // since 1970: the newest note of a source counts
};

inline constexpr std::size_t arrival_record_size = 96;

void put_arrival(std::string& out, const ArrivalNote& note);
[[nodiscard]] std::optional<ArrivalNote> try_parse_arrival(std::string_view record);  // nullopt: torn, or not ours

class Arrivals {
 public:
  Arrivals(std::filesystem::path directory, WriterId writer, const Owners& owners, Members members = {});
  ~Arrivals();
  [[nodiscard]] std::optional<Arrival> find(const Sha256& source);
  void add(const Sha256& source, const Arrival& arrival);
  void flush();    // appends the added notes
  void tidy();     // takes over the logs of dead writers
  void refresh();  // reads the notes that others have added since
  [[nodiscard]] std::optional<std::int64_t> noted_at(const Sha256& source);  // as ArrivalNote::time_ns

 private:
  struct Newest {
    Arrival arrival;
    std::int64_t time_ns = 0;
  };
  void take(const ArrivalNote& note);
  void load(std::size_t dead_max);
  void read_news();
  void fold(const std::vector<std::filesystem::path>& logs);
  void flush_locked();

  const Owners& owners_;  // owners of trusted logs
  std::mutex mutex_;      // of what follows
  WriterLogs logs_;
  bool loaded_ = false;
  std::unordered_map<Sha256, Newest> notes_;
  std::map<std::filesystem::path, std::uint64_t> read_;  // of each log: how far
  std::string pending_;
};

}  // namespace sabath
