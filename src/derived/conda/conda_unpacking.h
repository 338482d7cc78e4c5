// A tar of a conda package written into a folder, entry by entry: only plain files get there, links are kept as words.
// One thread. Throws Error{invalid} by the package's name for names and links that leave, devices, two entries of one
// name, bombs; Error{storage}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "conda/conda_package.h"
#include "fetch/archives/archive_visit.h"
#include "fetch/decide/archive_names.h"
#include "formats/bytes.h"
#include "formats/packing.h"

namespace sabath {

class CondaUnpacking final : private ArchiveVisitor {
 public:
  struct Order {
    std::string label;         // of the package, for messages
    std::filesystem::path to;  // is made
    std::uint64_t bytes_max, packed_bytes;
  };
  static constexpr std::uint64_t ratio_max = 2000, ratio_free_bytes = 1 << 30;  // what compression makes of real files

  CondaUnpacking(Order order, const std::stop_token& stop);
  // One tar, which must be packed so. `open` begins it again each time.
  void take(Packing packing, const std::function<std::unique_ptr<ByteSource>()>& open, const std::string& name);
  [[nodiscard]] const std::map<std::string, CondaItem>& items() const noexcept { return items_; }
  [[nodiscard]] std::map<std::string, CondaItem> take_items() { return std::move(items_); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void begin(const ArchiveItem& item) override;
  void write(std::span<const std::byte> bytes) override;
  void end() override;
  void hard_link(const RelativePath& path, const std::string& target);
  void begin_file(const std::string& path);
  void count(std::uint64_t bytes);

  const Order order_;
  const std::stop_token& stop_;
  ArchiveNames names_;
  std::map<std::string, CondaItem> items_;
  std::uint64_t bytes_ = 0;
  std::size_t entries_ = 0;
  std::string path_;  // of the file that is written
  Fd out_;
  std::unique_ptr<StreamHash> hash_;
};

}  // namespace sabath
