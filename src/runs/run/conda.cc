#include "run/conda.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "run/guarded_process.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t installed_max = 20'000;

// NAME-VERSION-BUILD.json for each package.
std::map<std::string, std::string> installed_in(const fs::path& prefix) {
  std::map<std::string, std::string> versions;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(prefix / "conda-meta", none)) {
    const std::string name = entry.path().stem().string();
    const auto build = name.rfind('-');
    const auto version = build == std::string::npos || build == 0 ? std::string::npos : name.rfind('-', build - 1);
    if (version == std::string::npos || entry.path().extension() != ".json" || versions.size() == installed_max)
      continue;
    versions[to_lower(name.substr(0, version))] = name.substr(version + 1, build - version - 1);
  }
  return versions;
}

// "=1.7" is met by 1.7 and 1.7.1 and not by 1.70; "=1.7=build" and "=1.7.*" mean the same here.
bool accepts(std::string_view wanted, const std::string& version) {
  if (!wanted.starts_with('=')) return true;
  wanted.remove_prefix(wanted.starts_with("==") ? 2 : 1);
  wanted = trim(wanted.substr(0, wanted.find('=')));
  if (wanted.ends_with(".*")) wanted.remove_suffix(2);
  return version == wanted || version.starts_with(std::string(wanted) + ".");
}

std::string find_conda(const VariableMap& environment) {
  const std::string path = variable_of(environment, "PATH");
  for (const char* name : {"micromamba", "mamba", "conda"}) {
    std::string program = find_program(name, path);
    if (!program.empty()) return program;
  }
  throw Error(FailureKind::not_found, "the recipe needs conda packages, and there is no micromamba, mamba or conda",
              fmt::format("load one (a module, often), enter an environment that has them, or say {} none",
                          option_text("env")));
}

}  // namespace

std::vector<std::string> missing_conda(const fs::path& prefix, const std::vector<std::string>& packages) {
  if (packages.empty()) return {};
  const auto installed = prefix.empty() ? std::map<std::string, std::string>() : installed_in(prefix);
  std::vector<std::string> missing;
  for (const std::string& package : packages) {
    const auto end = package.find_first_of("=<>!~ [");
    const auto found = installed.find(to_lower(package.substr(0, end)));
    const std::string_view rest = end == std::string::npos ? "" : std::string_view(package).substr(end);
    if (found == installed.end() || !accepts(trim(rest), found->second)) missing.push_back(package);
  }
  return missing;
}

void make_conda(const fs::path& directory, const std::vector<std::string>& packages, const VariableMap& environment,
                const std::stop_token& stop) {
  const fs::path mark = directory / "conda-meta/sabath-complete";
  if (try_stat(mark)) return;
  Command command;
  command.argv = {absolute_path(find_conda(environment)).string(),
                  "create",
                  "--yes",
                  "--quiet",
                  "--prefix",
                  absolute_path(directory).string()};
  command.argv.insert(command.argv.end(), packages.begin(), packages.end());
  command.environment.assign(environment.begin(), environment.end());
  command.directory = "/";  // it is a Python, and the working directory may be another user's
  command.deadline = std::chrono::hours(1);
  remove_tree(directory);
  make_directories(directory.parent_path());
  const CommandResult result = run_command(command, stop);
  if (result.status != 0) {
    throw Error(
        FailureKind::command,
        fmt::format("cannot make the conda environment {}: {}", directory.string(),
                    printable(trim(result.err.empty() ? result.out : result.err), 600)),
        fmt::format("its channels are those of your conda configuration; what is there already serves with {} none",
                    option_text("env")));
  }
  make_directories(mark.parent_path());
  write_text_atomically(mark, fmt::format("{}\n", fmt::join(packages, "\n")));
}

void enter_conda(VariableMap& environment, const fs::path& prefix) {
  environment["CONDA_PREFIX"] = prefix.string();
  environment["PATH"] = (prefix / "bin").string() + ":" + environment["PATH"];
}

}  // namespace sabath
