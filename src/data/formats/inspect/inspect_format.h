// The formats of data files that `inspect` knows, and that the harvest of facts reads: each is a constant in a file of
// its own, and a line of the table in inspect_formats.cc. A file may be hostile: reading is bounded. One thread at a
// time. Functions throw what include/sabath/verbs/inspect.h says.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "formats/bytes.h"
#include "sabath/verbs/inspect.h"

namespace sabath {

// A file as its format sees it: what gzip packed is unpacked.
class DataFile {
 public:
  DataFile(std::filesystem::path path, std::function<void()> on_progress);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }       // as it lies on the disk
  [[nodiscard]] const std::string& begin() const { return begin_; }  // its first 16 bytes, unpacked
  [[nodiscard]] bool is_packed() const { return packed_; }           // by gzip
  [[nodiscard]] const std::function<void()>& on_progress() const { return on_progress_; }
  void read(const std::function<void(ByteSource& content)>& take) const;  // from the first byte, unpacked
  [[nodiscard]] std::string head(std::size_t bytes) const;                // fewer if it ends before

 private:
  std::filesystem::path path_;
  std::function<void()> on_progress_;
  std::uint64_t bytes_ = 0;
  std::string begin_;
  bool packed_ = false;
};

// Takes what a file says of itself, as lines to search: "shape", "512,512".
class FactSink {
 public:
  virtual ~FactSink() = default;
  virtual void add(const std::string& key, const std::string& value) = 0;
};

struct InspectFormat {
  std::string_view name;                       // "npy": the record's `format`
  std::string_view endings{};                  // ".h5 .nc": fetched files of these names are looked into, for `search`
  bool (*is)(const DataFile& file) = nullptr;  // by content; nullptr: `inspect` does not know it
  void (*read)(const DataFile& file, InspectRecord& record) = nullptr;
  void (*facts)(const DataFile& file, FactSink& facts) = nullptr;  // nullptr: those of what `read` finds
  bool in_gzip = false;     // `is`, `read` and `facts` take what gzip packed, too
  bool by_program = false;  // a process of its own reads it, which is not this folder's
};

// In the order in which they are tried.
[[nodiscard]] std::span<const InspectFormat* const> inspect_formats();
// Of a name in lower case, by its ending; nullptr: there is none.
[[nodiscard]] const InspectFormat* inspect_format_named(std::string_view file_name);

// What formats tell alike.
void add_array(InspectRecord& record, FileArray array);  // keeps the first 10,000
inline constexpr std::size_t inspect_metadata_max = 256;
void add_facts(const InspectRecord& record, FactSink& facts);

}  // namespace sabath
