// An HDF5 file in the making whose bytes depend on its content alone: no times, one format (HDF5 1.8), one order.
// One thread at a time. Throws Error{storage} or Error{space} if the filesystem refuses a write.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "hdf5/select.h"
#include "hdf5/source.h"
#include "hdf5/type.h"

namespace sabath::h5 {

inline constexpr const char* provenance_name = "sabath_selection";

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // The groups above `object_path` with their attributes in the source, below `prefix` ("" or "/000").
  void make_groups(const Source& source, const std::string& prefix, const std::string& object_path);
  // A dataset of the type and the attributes of `source`, and of these extents; its groups exist.
  [[nodiscard]] Handle make_dataset(const Source& file, const Dataset& source, const std::string& path,
                                    const Dims& extents, const Dims& chunk, SelectOptions::Filter filter);
  void set_provenance(const std::string& text);
  std::uint64_t finish(bool sync);  // the file's length

  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void make_group(const Source& source, const std::string& from, const std::string& to);
  void copy_attributes(const Source& source, hid_t from, hid_t to, const std::string& label);
  void copy_attribute(hid_t from, hid_t to, const std::string& attribute, const std::string& label);

  std::filesystem::path path_;
  std::string name_;
  Handle file_;
  std::set<std::string> groups_;
  std::vector<std::string> left_out_;
};

// The text of the source's own provenance attribute, "" if it has none that can be read.
[[nodiscard]] std::string provenance_of(const Source& source);

}  // namespace sabath::h5
