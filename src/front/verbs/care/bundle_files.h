// The parts that import, export and want share: output files, and assets by name. One thread. Throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "fetch/archives/bundle.h"
#include "recipe/catalogue.h"
#include "sabath/session.h"

namespace sabath {

// A file that gets its name when it is whole.
class OutputFile {
 public:
  explicit OutputFile(std::string name);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  [[nodiscard]] int fd() const { return file_.get(); }
  void finish();

 private:
  const std::string name_;
  const std::filesystem::path unfinished_;
  Fd file_;
};

[[nodiscard]] WantList read_want_list(const std::string& file);

// As a bundle says it: empty for a dataset, and where no recipe tells.
[[nodiscard]] std::string bundled_kind(const std::string& name, const Catalogue& catalogue);
// The root that the recipe of `name` pins or the store has learnt, and how it is trusted.
[[nodiscard]] BundledAsset bundled_asset(const std::string& name, const SessionSettings& settings, Store& store);

}  // namespace sabath
