// Unpacked packages of conda moved into one tree: which package brings which file, files that name a place noted, links
// made at the end, so that nothing is written through one. One thread. Throws Error{invalid} by the packages' names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conda/conda_package.h"
#include "conda/conda_tree.h"
#include "packing/prefix_source.h"

namespace sabath {

class CondaJoining {
 public:
  // `source`: the tree's interpreter, whose own names are left out.
  CondaJoining(std::filesystem::path top, const PrefixSource& source) : top_(std::move(top)), source_(source) {}
  // Moves the package's files from `from`, its folder.
  void add(const CondaPackage& package, const std::filesystem::path& from);
  // After all packages. The answer: links that lead nowhere, which are left out.
  [[nodiscard]] std::vector<std::string> make_links();
  [[nodiscard]] std::vector<NamingFile> take_naming() { return std::move(naming_); }
  [[nodiscard]] const std::set<std::string>& notes() const noexcept { return notes_; }  // of Python packages
  [[nodiscard]] std::vector<std::string> places() const;                                // of all files and links

 private:
  void claim(const std::string& place, const std::string& owner);
  void move_file(const CondaPackage& package, const CondaPath& path, const std::string& place,
                 const std::filesystem::path& from);
  void add_programs(const CondaPackage& package);

  const std::filesystem::path top_;
  const PrefixSource& source_;
  std::map<std::string, std::string> owners_, folders_;  // by place
  std::map<std::string, std::string> links_;             // place -> target
  std::vector<NamingFile> naming_;
  std::set<std::string> notes_;
};

}  // namespace sabath
