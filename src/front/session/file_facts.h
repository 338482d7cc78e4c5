// What data files say of themselves, as lines to search: attributes, shapes and types of HDF5 and netCDF, of arrays and
// tensors, inputs and outputs of models, layers of Keras, features of records, columns of tables. Heads are read, and
// of data at most small HDF5 datasets of numbers, such as the parameters of a simulation. Files may be hostile: HDF5 is
// read by a process of its own, and everything has a bound. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "formats/inspect/inspect_format.h"
#include "hdf5/own_process.h"

namespace sabath {

// Whether a file of this name may say something: by its ending.
[[nodiscard]] bool may_say_facts(std::string_view name);

class FileFacts final : public FactSink {
 public:
  // `program`: of the companion; empty: it is found. After `time_max` no other file is looked into.
  FileFacts(std::filesystem::path program, std::chrono::milliseconds time_max, std::stop_token stop);

  // False: it says nothing, is damaged or takes too long. Throws Error{interrupted} alone.
  bool look_into(const std::filesystem::path& file);

  // "seed9=12109763", "full.shape=512,512,512,4": each once, in the order of the files; then the least and greatest of
  // numbers that differ, "seed9.range=1..7". At most 2,000 lines of 512 bytes.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  void read(const std::filesystem::path& file);
  void read_hdf5(const std::filesystem::path& file);
  void read_values(const std::filesystem::path& file, const std::string& path, const std::string& name);
  void add(const std::string& key, const std::string& value) override;
  void add_number(const std::string& key, double value);
  void check() const;

  Hdf5 hdf5_;
  const std::chrono::steady_clock::time_point end_;
  const std::stop_token stop_;
  bool hdf5_works_ = true;
  std::vector<std::string> lines_;
  std::set<std::string, std::less<>> seen_;
  std::map<std::string, std::pair<double, double>> ranges_;  // least and greatest
};

}  // namespace sabath
