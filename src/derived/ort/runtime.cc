#include "ort/runtime.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/file.h"
#include "base/loadable.h"
#include "ort/calls.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr int log_errors_only = 3;
constexpr std::size_t entries_max = 1000;  // of a directory in which the library is searched

// The files libonnxruntime.so and libonnxruntime.so.1.* of a directory, the newest name first.
std::vector<fs::path> libraries_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end && seen < entries_max;
       entry.increment(error), ++seen) {
    const std::string name = entry->path().filename();
    if (name == "libonnxruntime.so" || name.starts_with("libonnxruntime.so.")) found.push_back(entry->path());
  }
  std::ranges::sort(found, std::greater<>());
  return found;
}

// Below an environment's lib: lib itself (Conda), and the package of each Python.
std::vector<fs::path> libraries_of_environment(const fs::path& environment) {
  std::vector<fs::path> found = libraries_in(environment / "lib");
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator entry(environment / "lib", error), end; !error && entry != end && seen < entries_max;
       entry.increment(error), ++seen) {
    if (!entry->path().filename().native().starts_with("python")) continue;
    std::ranges::copy(libraries_in(entry->path() / "site-packages/onnxruntime/capi"), std::back_inserter(found));
  }
  return found;
}

std::vector<fs::path> candidates(const OrtPlaces& places) {
  if (const auto named = places.variable("SABATH_ORT")) return {*named};
  std::vector<fs::path> all;
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const fs::path environment = places.variable(variable).value_or("");
    if (environment.is_absolute()) std::ranges::copy(libraries_of_environment(environment), std::back_inserter(all));
  }
  if (places.program.is_absolute()) {
    const fs::path beside = places.program.parent_path().parent_path() / "lib";
    std::ranges::copy(libraries_in(beside), std::back_inserter(all));
  }
  return all;
}

}  // namespace

void check_ort(void* const* table, void* status, std::string_view what) {
  if (status == nullptr) return;
  const OrtObject owner(table, OrtCall::release_error, status);
  const char* const said = ort_function<const char*(const void*)>(table, OrtCall::error_message)(status);
  throw Error(FailureKind::invalid,
              fmt::format("{}: ONNX Runtime: {}", what, printable(said != nullptr ? said : "", 1000)));
}

std::shared_ptr<const OrtRuntime> OrtRuntime::open(const OrtPlaces& places) {
  std::string passed_over;
  for (const fs::path& file : candidates(places)) {
    const std::shared_ptr<OrtRuntime> runtime(new OrtRuntime);
    const auto why_not = runtime->try_open(file, places.program);
    if (!why_not) return runtime;
    passed_over += fmt::format("; {}: {}", printable(file.native()), *why_not);
  }
  throw Error(FailureKind::unavailable, "there is no ONNX Runtime that can be used" + passed_over,
              "`pip install onnxruntime` in a virtual environment and activate it, or name its libonnxruntime.so in "
              "SABATH_ORT");
}

std::optional<std::string> OrtRuntime::try_open(const fs::path& file, const fs::path& program) {
  if (!file.is_absolute()) return "not an absolute path";
  const auto opened = open_loadable(file, program);
  if (const auto* const why_not = std::get_if<std::string>(&opened)) return why_not->empty() ? "not there" : *why_not;
  void* const library = load(std::get<Fd>(opened), file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const said = ::dlerror();
    return printable(said != nullptr ? said : "unknown", 300);
  }
  auto* const base = reinterpret_cast<const OrtBase* (*)()>(::dlsym(library, "OrtGetApiBase"));
  if (base == nullptr) return "no ONNX Runtime";
  const OrtBase* const found = base();
  table_ = found->table(ort_table_version);
  if (table_ == nullptr) return fmt::format("its version {} is not known", printable(found->version(), 100));
  version_ = printable(found->version(), 100);
  file_ = file;
  call_ort(table_, OrtCall::create_env, file.native(), log_errors_only, "sabath", &env_);
  return std::nullopt;
}

OrtRuntime::~OrtRuntime() {
  if (env_ != nullptr) ort_function<void(void*)>(table_, OrtCall::release_env)(env_);
}

}  // namespace sabath
