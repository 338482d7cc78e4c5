// The container of a manifest file: nodes one after another, a table that finds each by its hash, annotations, a
// footer. It does not know the nodes' meaning. Format: docs/manifest.md.
//
// A NodeFile is immutable and any thread may read; a NodeFileWriter has one owner. Reading throws Error{invalid},
// Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/file.h"
#include "sabath/digest.h"

namespace sabath {

inline constexpr std::uint64_t node_size_max =
    16 + 1024 * (1 + 2 + 255 + 2 + 4095);  // a page full of the longest symlinks

class NodeFile {
 public:
  struct Place {
    std::uint64_t index = 0, offset = 0, length = 0;  // row of the table, bytes of the file
  };

  [[nodiscard]] static NodeFile open(const std::filesystem::path& file);  // reads the two ends only
  [[nodiscard]] static NodeFile parse(std::string bytes);

  [[nodiscard]] const Sha256& root() const noexcept { return root_; }
  [[nodiscard]] std::string read(const Sha256& hash) const;  // a node; its hash has been checked
  [[nodiscard]] Place find(const Sha256& hash) const;
  [[nodiscard]] std::string annotations()
      const;  // compared with the hash in the footer: against damage, not against a lie

  [[nodiscard]] std::uint64_t node_count() const noexcept { return node_count_; }
  [[nodiscard]] std::uint64_t nodes_begin() const noexcept;
  [[nodiscard]] std::uint64_t nodes_end() const noexcept { return table_; }
  void check_table() const;  // its hashes ascend

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  NodeFile(std::string memory, Fd fd, std::filesystem::path name, std::uint64_t size_bytes);
  // Bytes of the file: in `scratch`, or where they stand in memory.
  [[nodiscard]] std::string_view view(std::uint64_t offset, std::uint64_t length, std::string& scratch) const;

  std::string memory_;
  Fd fd_;
  std::filesystem::path name_;
  Sha256 root_, annotations_hash_;
  std::uint64_t node_count_ = 0, table_ = 0, annotations_ = 0, annotations_size_ = 0;
};

class NodeFileWriter {
 public:
  using Output = std::function<void(std::string_view)>;
  explicit NodeFileWriter(Output output);
  Sha256 put(std::string_view node);                              // does not write a node twice
  void put(const Sha256& hash, std::string_view node);            // its hash is known
  void finish(const Sha256& root, std::string_view annotations);  // once

 private:
  void write(std::string_view bytes);
  Output output_;
  std::uint64_t offset_ = 0;
  std::unordered_map<Sha256, NodeFile::Place> places_;
};

}  // namespace sabath
