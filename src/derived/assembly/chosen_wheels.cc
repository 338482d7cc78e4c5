#include "assembly/chosen_wheels.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/asked_file.h"
#include "base/file.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "environments/readers.h"
#include "environments/target_here.h"
#include "packing/interpreter_tree.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string base_prefix(Programs& programs, const std::string& interpreter) {
  const ProgramAnswer answer =
      programs.ask({interpreter, "-I", "-S", "-c", "import sys; print(sys.base_prefix, end='')"}, {}, 1 << 13);
  if (answer.came && answer.out.starts_with('/') && answer.out.find('\n') == std::string::npos) return answer.out;
  throw Error(FailureKind::command,
              fmt::format("the interpreter is not known: {}", answer.came ? "its answer is none" : answer.why),
              "name the prefix of one, which has bin/python3");
}

struct LockText {
  std::string text, name;
  EnvironmentFormat format;
};

LockText lock_text_in(const fs::path& path) {
  refuse_directory(path);
  const auto text = try_read_text(path, lock_text_max);
  if (!text)
    throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(path.native(), 1000)),
                "name a lock, a virtual environment or a prefix");
  const std::string name = printable(path.filename().native());
  const EnvironmentFormat format = format_of_file(path.filename(), *text);
  switch (format) {
    case EnvironmentFormat::pylock:
    case EnvironmentFormat::uv_lock:
      return {*text, name, format};
    case EnvironmentFormat::requirements:
      throw Error(FailureKind::usage, fmt::format("{} is no lock: it names no files", name),
                  "make a lock of it first (env lock)");
    default:
      throw Error(FailureKind::usage, fmt::format("{} names packages of conda, and wheels are packed", name),
                  "make a lock of requirements.txt (env lock)");
  }
}

EnvironmentLock read_lock(const fs::path& path, const WheelTarget& target) {
  const LockText lock = lock_text_in(path);
  return lock.format == EnvironmentFormat::pylock ? read_pylock(lock.text, lock.name)
                                                  : read_uv_lock(lock.text, lock.name, target);
}

}  // namespace

PrefixSource interpreter_prefix(Programs& programs, const std::string& named) {
  std::error_code error;
  fs::path prefix = named;
  if (named.empty() || !fs::is_directory(prefix, error)) {
    std::string interpreter = named.empty() ? "python3" : named;
    if (!named.empty() && is_digit(named[0]) && named.find('/') == std::string::npos) interpreter = "python" + named;
    if (interpreter.find('/') != std::string::npos) interpreter = absolute_path(interpreter).native();
    prefix = base_prefix(programs, interpreter);
  }
  try {
    PrefixSource source = prefix_source(prefix, true);
    if (source.is_venv) source = prefix_source(source.base, true);
    return source;
  } catch (const Error& failed) {
    Failure failure = failed.failure();
    if (failure.kind == FailureKind::invalid)
      failure.hint = "name the prefix of a self-built or a standalone interpreter (pyenv install, uv python install)";
    throw Error(failure);
  }
}

void refuse_no_lock(const fs::path& lock) { static_cast<void>(lock_text_in(absolute_path(lock))); }

ChosenWheels choose_wheels(Programs& programs, const fs::path& lock, const PrefixSource& interpreter) {
  refuse_exchangeable(programs, interpreter);
  ChosenWheels chosen;
  LockOrder order;
  order.python = interpreter.interpreter.native();
  chosen.target = target_of(programs, order, true);
  const std::vector<EnvironmentLock> locks{read_lock(absolute_path(lock), chosen.target)};
  chosen.packages = choose_packages(locks, chosen.target);
  if (chosen.packages.empty())
    throw Error(FailureKind::not_found, "the lock names no package for this interpreter",
                "look at its markers, and at its groups");
  std::ranges::stable_sort(chosen.packages, {}, &ChosenPackage::name);
  return chosen;
}

Recipe recipe_of_wheels(const std::string& name, const fs::path& lock, const std::vector<ChosenPackage>& packages) {
  Recipe recipe;
  recipe.name = name;
  recipe.origin = absolute_path(lock).native();
  for (const ChosenPackage& package : packages) {
    Fragment fragment;
    fragment.id = package.name;
    fragment.path = RelativePath::parse(package.file.name);
    fragment.urls = {Url::parse(package.file.url)};
    fragment.size_bytes = package.file.size_bytes;
    fragment.checksum.sha256 = package.file.sha256;
    recipe.fragments.push_back(std::move(fragment));
  }
  return recipe;
}

}  // namespace sabath
