#include "environments/lock_environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/asked_file.h"
#include "base/file.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "environments/environment_file.h"
#include "environments/lock_text.h"
#include "environments/readers.h"
#include "environments/resolve.h"
#include "environments/target_here.h"
#include "environments/user_indexes.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/url.h"

namespace sabath {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t lock_files_max = 64;

struct NamedFile {
  fs::path path;
  std::string name, text;
  EnvironmentFormat format;
};

std::string read_named(const fs::path& path) {
  refuse_directory(path);
  auto text = try_read_text(path, lock_text_max);
  if (!text)
    throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(path.native(), 1000)),
                "name it as it is");
  return std::move(*text);
}

NamedFile named_file(const fs::path& named) {
  NamedFile file{.path = absolute_path(named), .name = {}, .text = {}, .format = EnvironmentFormat::requirements};
  file.text = read_named(file.path);
  file.name = printable(file.path.filename().native());
  file.format = format_of_file(file.path.filename(), file.text);
  return file;
}

// A directory of this process alone, for what a program reads.
class LockScratch {
 public:
  explicit LockScratch(const Programs& programs) {
    std::string name = programs.environment().get("TMPDIR").value_or("/tmp");
    if (!name.starts_with('/') || programs.owners().why_not(name)) name = "/tmp";
    name += "/sabath-lock-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw_errno("make a directory", name, errno);
    path_ = name;
  }
  ~LockScratch() { remove_tree(path_); }
  LockScratch(const LockScratch&) = delete;
  LockScratch& operator=(const LockScratch&) = delete;
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

class Locking {
 public:
  Locking(Programs& programs, const LockOrder& order) : programs_(programs), order_(order) {
    if (order.files.empty())
      throw Error(FailureKind::usage, "no file is named", "name requirements.txt, a lock or environment.yml");
    if (order.files.size() > lock_files_max)
      throw Error(FailureKind::usage, fmt::format("more than {} files", lock_files_max));
    for (const fs::path& file : order.files) files_.push_back(named_file(file));
    for (const std::string& channel : order.channels)
      if (!is_conda_channel(channel))
        throw Error(FailureKind::usage, fmt::format("'{}' is no channel", printable_url(channel)));
    check_resolver();
  }

  LockedEnvironment lock() {
    const auto is_of_conda = [](const NamedFile& file) {
      return file.format == EnvironmentFormat::conda_explicit || file.format == EnvironmentFormat::conda_lock ||
             file.format == EnvironmentFormat::environment_yml;
    };
    const bool wants_python = !std::ranges::all_of(files_, is_of_conda) || names_pip();
    result_.target = target_of(programs_, order_, wants_python);
    for (const NamedFile& file : files_) read(file);
    resolve_requirements();
    result_.packages = choose_packages(locks_, result_.target);
    if (result_.packages.empty())
      throw Error(FailureKind::not_found, "these files name no package for this target",
                  "look at their markers, and at their groups");
    for (const ChosenPackage& package : result_.packages)
      (package.manager == PackageManager::conda ? result_.has_conda : result_.has_python) = true;
    std::ranges::stable_sort(result_.packages, {}, &ChosenPackage::name);
    std::vector<std::string> channels;
    for (const EnvironmentLock& one : locks_) {
      result_.remarks.insert(result_.remarks.end(), one.remarks.begin(), one.remarks.end());
      for (const std::string& channel : one.channels)
        if (std::ranges::find(channels, channel) == channels.end()) channels.push_back(channel);
    }
    result_.text = result_.has_conda ? conda_lock_text(result_.packages, channels, result_.target)
                                     : pylock_text(result_.packages, result_.target);
    return std::move(result_);
  }

 private:
  void check_resolver() const {
    constexpr std::array<std::string_view, 5> known{"uv", "pip", "conda", "mamba", "micromamba"};
    if (!order_.resolver.empty() && !is_among(order_.resolver, known))
      throw Error(FailureKind::usage, fmt::format("'{}' is no program that resolves", printable(order_.resolver)),
                  "uv, pip, conda, mamba or micromamba");
  }

  // A conda-lock.yml may have packages of pip, whose wheels are for a Python.
  [[nodiscard]] bool names_pip() const {
    return std::ranges::any_of(files_, [](const NamedFile& file) {
      return file.format == EnvironmentFormat::conda_lock && file.text.find("manager: pip") != std::string::npos;
    });
  }

  void read(const NamedFile& file) {
    switch (file.format) {
      case EnvironmentFormat::pylock:
        locks_.push_back(read_pylock(file.text, file.name));
        break;
      case EnvironmentFormat::uv_lock:
        locks_.push_back(read_uv_lock(file.text, file.name, result_.target));
        break;
      case EnvironmentFormat::conda_explicit:
        locks_.push_back(read_conda_explicit(file.text, file.name));
        break;
      case EnvironmentFormat::conda_lock:
        locks_.push_back(read_conda_lock(file.text, file.name));
        break;
      case EnvironmentFormat::environment_yml:
        resolve_environment(file);
        break;
      case EnvironmentFormat::requirements: {
        const fs::path directory = file.path.parent_path();
        read_requirements(
            file.text, file.name, [&](const std::string& name) { return read_beside(directory, name); }, wanted_);
        break;
      }
    }
  }

  // No symlink leads out of the directory: what lies elsewhere was not named.
  static std::string read_beside(const fs::path& directory, const std::string& name) {
    std::error_code error, of_directory;
    const fs::path real = fs::canonical(directory / name, error), within = fs::canonical(directory, of_directory);
    if (error || of_directory)
      throw Error(FailureKind::not_found,
                  fmt::format("there is no file {}", printable((directory / name).native(), 1000)));
    if (!is_below(real, within))
      throw Error(FailureKind::invalid,
                  fmt::format("{} leads out of {}", printable(name), printable(directory.native(), 1000)),
                  "put the file itself there");
    return read_named(real);
  }

  void refuse_offline(const std::string& what) const {
    if (order_.offline)
      throw Error(FailureKind::offline, fmt::format("{} is not locked, and to resolve it asks an index", what),
                  "lock it without offline");
  }

  // The first of these that is there and no other account can exchange; why there is none goes into the message.
  std::string find_resolver(std::vector<std::string> names, const std::string& what) {
    if (!order_.resolver.empty()) {
      const bool fits = std::ranges::find(names, order_.resolver) != names.end();
      if (fits) names = {order_.resolver};
    }
    std::string against;
    for (const std::string& name : names) {
      std::string why;
      if (!programs_.find(name, why).empty()) return name;
      against += (against.empty() ? "" : "; ") + why;
    }
    throw Error(FailureKind::command,
                fmt::format("{} is not locked, and there is no program that resolves it: {}", what, against),
                fmt::format("put {} on PATH, or give a lock file", fmt::join(names, " or ")));
  }

  void resolve_environment(const NamedFile& file) {
    CondaEnvironment environment = read_environment_yml(file.text, file.name);
    refuse_channels(environment, file.name);
    refuse_offline(file.name);
    const std::string program = find_resolver({"micromamba", "mamba", "conda"}, file.name);
    const LockScratch scratch(programs_);
    locks_.push_back(resolve_by_conda(programs_, program, environment, result_.target, scratch.path()));
    note_resolver(program);
    result_.remarks.insert(result_.remarks.end(), environment.remarks.begin(), environment.remarks.end());
  }

  void refuse_channels(CondaEnvironment& environment, const std::string& name) const {
    constexpr std::array<std::string_view, 3> usual{"conda-forge", "defaults", "nodefaults"};
    std::vector<std::string> refused;
    std::vector<std::string> all = environment.channels;
    for (const std::string& spec : environment.specs)
      if (const auto mark = spec.find("::"); mark != std::string::npos) all.push_back(spec.substr(0, mark));
    for (const std::string& channel : all)
      if (!is_among(channel, usual) && std::ranges::find(order_.channels, channel) == order_.channels.end())
        refused.push_back(printable_url(channel));
    if (!refused.empty())
      throw Error(FailureKind::invalid,
                  fmt::format("{} names channels that you have not allowed: {}", name, fmt::join(refused, ", ")),
                  "allow a channel by naming it beside the file");
    std::erase(environment.channels, "nodefaults");
    if (environment.channels.empty())
      environment.channels = order_.channels.empty() ? std::vector<std::string>{"conda-forge"} : order_.channels;
  }

  void note_resolver(const std::string& program) {
    result_.resolver += (result_.resolver.empty() ? "" : ", ") + program;
  }

  void resolve_requirements() {
    if (wanted_.lines.empty() && wanted_.indexes.empty() && wanted_.refused.empty()) return;
    const UserIndexes allowed(programs_.environment(), order_.indexes);
    std::vector<std::string> refused = wanted_.refused;
    for (std::string& one : refused_indexes(wanted_, allowed)) refused.push_back(std::move(one));
    if (!refused.empty()) {
      throw Error(FailureKind::invalid, fmt::format("not taken: {}", fmt::join(refused, "; ")),
                  "take these lines out; an index that you trust may be named beside the file");
    }
    PythonQuestion question = question_of(wanted_, result_.target);
    if (question.lines.empty()) return;
    refuse_offline(wanted_.lines[0].place);
    if (question.indexes.empty())
      for (const std::string& url : order_.indexes) question.indexes.push_back({url, "", !question.indexes.empty()});
    const std::string program = find_resolver({"uv", "pip"}, wanted_.lines[0].place);
    const LockScratch scratch(programs_);
    EnvironmentLock lock = program == "uv" ? resolve_by_uv(programs_, question, result_.target, scratch.path())
                                           : resolve_by_pip(programs_, question, result_.target, scratch.path());
    keep_stated_digests(lock, question.lines);
    locks_.push_back(std::move(lock));
    note_resolver(program);
  }

  Programs& programs_;
  const LockOrder& order_;
  std::vector<NamedFile> files_;
  RequirementsFile wanted_;
  std::vector<EnvironmentLock> locks_;
  LockedEnvironment result_;
};

}  // namespace

LockedEnvironment lock_environment(Programs& programs, const LockOrder& order) {
  return Locking(programs, order).lock();
}

}  // namespace sabath
