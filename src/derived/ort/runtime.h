// ONNX Runtime, loaded: the program is linked with none. A library that was opened stays open to the end. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sabath {

// What it is searched by.
struct OrtPlaces {
  std::function<std::optional<std::string>(const std::string& name)> variable;  // SABATH_ORT, VIRTUAL_ENV, CONDA_PREFIX
  std::filesystem::path program;                                                // this one; a copy may lie beside it
};

class OrtRuntime {
 public:
  // SABATH_ORT names the file; else that of the active Python or Conda environment, else that of the installation. Only
  // files that root or the user owns and others cannot write, by absolute paths. Throws Error{unavailable}: there is
  // none that can be used; the message says what was looked at.
  [[nodiscard]] static std::shared_ptr<const OrtRuntime> open(const OrtPlaces& places);
  ~OrtRuntime();
  OrtRuntime(const OrtRuntime&) = delete;
  OrtRuntime& operator=(const OrtRuntime&) = delete;
  [[nodiscard]] const std::string& version() const { return version_; }  // "1.32.0"
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  friend class OrtModel;
  OrtRuntime() = default;
  // Why not; nullopt: it is open.
  [[nodiscard]] std::optional<std::string> try_open(const std::filesystem::path& file,
                                                    const std::filesystem::path& program);

  std::filesystem::path file_;
  std::string version_;
  void* const* table_ = nullptr;
  void* env_ = nullptr;
};

}  // namespace sabath
