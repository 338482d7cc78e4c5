// A wheel, judged before a byte of it is written, and unpacked: RECORD names each file and its hash, no file leaves its
// place, and what it says of itself is what its name says. One thread; several wheels side by side. Throws
// Error{invalid} by the package's name, Error{storage}, Error{space}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "environments/python_version.h"
#include "environments/wheel_name.h"
#include "formats/zip.h"
#include "wheels/entry_points.h"
#include "wheels/wheel_layout.h"

namespace sabath {

struct WheelOrder {
  std::filesystem::path file;
  std::string file_name;                // of the lock: "flute-1.2-py3-none-any.whl"
  std::string python;                   // "python3.11": the folder of the library
  std::string full_version;             // "3.11.7": what it may require
  std::string origin_note;              // direct_url.json; empty: it came from an index
  std::set<std::string> accepted = {};  // libraries beside the interpreter's own
};

class WheelArchive {
 public:
  static constexpr std::uint64_t note_bytes_max = 64 << 20, bytes_max = std::uint64_t{64} << 30;
  // What deflate makes of real files is far below this; small wheels may be of zeros.
  static constexpr std::uint64_t ratio_max = 200, ratio_free_bytes = 64 << 20;

  explicit WheelArchive(WheelOrder order);
  [[nodiscard]] const std::string& label() const noexcept { return layout_.label; }  // "flute 1.2"
  // All files that unpack() makes, as paths below the prefix, in byte order.
  [[nodiscard]] const std::vector<std::string>& places() const noexcept { return places_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  // Below `top`, where none of places() is yet. Each file's hash must be that of RECORD.
  void unpack(const std::filesystem::path& top, const std::stop_token& stop) const;

 private:
  struct Row {
    std::string algorithm, digest;
  };
  struct Wanted {
    const ZipMember* member;
    std::string place;
    const Row* row;
  };
  void judge_members();
  void find_info();
  void check_self();
  void read_record();
  void want(const ZipMember& member);
  void add_programs();
  [[nodiscard]] std::string text_of(const std::string& name) const;
  void write_member(const Wanted& wanted, const std::filesystem::path& file, const std::stop_token& stop) const;
  void write_notes(const std::filesystem::path& top) const;
  [[noreturn]] void refuse(const std::string& why) const;

  const WheelOrder order_;
  const WheelName name_;
  const ZipArchive archive_;
  WheelLayout layout_;
  std::map<std::string, Row> record_;
  std::vector<Wanted> wanted_;
  std::vector<EntryPoint> programs_;
  std::vector<std::string> places_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sabath
