// Trees copied into one: plain files, directories, symlinks that stay inside; modes are 644 and 755. A source may be a
// stranger's, who exchanges its folders meanwhile: each step goes by the descriptor of the folder before, and follows
// no symlink. One thread. Throws Error{invalid} for sockets, pipes and devices, symlinks that lead outside, two files
// of one name, what is over a bound; Error{changed}, Error{storage}, Error{space}, Error{interrupted}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath {

inline constexpr std::uint64_t packed_files_max = 2'000'000, packed_file_bytes_max = std::uint64_t{64} << 30;

// What is left out; `path` is below the tree that is copied: "lib/python3.11/test".
using LeavesOut = std::function<bool(const std::string& path)>;

// Asked about each file before its bytes are read, by a path that leads to the open one; `name`: for people. May throw.
using AdmitsFile = std::function<void(const std::filesystem::path& file, const std::string& name)>;

class TreeCopy {
 public:
  // `places`: prefixes by which absolute symlinks of the sources may name what is copied. `admit`: empty: all may be
  // read.
  TreeCopy(std::filesystem::path to, std::vector<std::filesystem::path> places, std::stop_token stop,
           AdmitsFile admit = {})
      : to_(std::move(to)), places_(std::move(places)), stop_(std::move(stop)), admit_(std::move(admit)) {}
  // `from`: absolute, without symlinks. Copies from/below to the same place; nothing if it is not there. `below` empty:
  // all.
  void add(const std::filesystem::path& from, const std::string& below, const LeavesOut& leaves_out);
  // After all: each symlink leads to something; those to what was left out are removed.
  void finish();
  [[nodiscard]] std::uint64_t files() const { return files_; }

 private:
  struct Source {
    int folder;                  // open
    std::string name;            // in it
    std::filesystem::path from;  // for messages
    std::string below;
  };
  void take(const Source& source, const LeavesOut& leaves_out, int depth);
  void directory(int open, const std::filesystem::path& from, const std::string& below, const LeavesOut& leaves_out,
                 int depth);
  void file(const Source& source);
  void link(const Source& source);
  void count();

  struct Link {
    std::string path;
    std::filesystem::path origin;
  };
  const std::filesystem::path to_;
  const std::vector<std::filesystem::path> places_;
  const std::stop_token stop_;
  const AdmitsFile admit_;
  std::uint64_t files_ = 0;
  std::vector<Link> links_;
};

// Visits the plain files of a tree in byte order of their paths. `path` is below the top.
void for_each_packed_file(const std::filesystem::path& top, const std::function<void(const std::string& path)>& visit);

}  // namespace sabath
