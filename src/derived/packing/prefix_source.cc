#include "packing/prefix_source.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

std::string shown(const fs::path& path) { return printable(path.native(), 1000); }

fs::path real_directory(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error || !fs::is_directory(real, error))
    throw Error(FailureKind::usage, fmt::format("{} is no directory", shown(path)),
                "name a virtual environment, or a prefix that has bin/python3");
  return real;
}

// The value of a key of pyvenv.cfg; empty: it has none.
std::string venv_setting(const std::string& text, std::string_view wanted) {
  std::string_view left = text;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view line = left.substr(0, end);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && to_lower(trim(line.substr(0, equals))) == wanted)
      return std::string(trim(line.substr(equals + 1)));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return {};
}

fs::path interpreter_of(const fs::path& bin) {
  for (const char* name : {"python3", "python"}) {
    const fs::path file = bin / name;
    if (!try_lstat(file)) continue;
    std::error_code error;
    fs::path real = fs::canonical(file, error);
    if (error)
      throw Error(FailureKind::invalid, fmt::format("{} leads to an interpreter that is gone", shown(file)),
                  "make the environment again with an interpreter that is here");
    return real;
  }
  throw Error(FailureKind::usage, fmt::format("{} has no python3", shown(bin)),
              "name a virtual environment, or a prefix that has bin/python3");
}

bool is_python_folder(const std::string& name) {
  if (!name.starts_with("python3.") || name.size() > 12) return false;
  return try_whole_number(std::string_view(name).substr(8)).has_value();
}

// The folder of the standard library: by the interpreter's name, else the only one.
std::string library_folder(const fs::path& base, const fs::path& interpreter) {
  const std::string name = interpreter.filename();
  if (is_python_folder(name) && try_stat(base / "lib" / name / "os.py")) return name;
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(base / "lib", error), end; !error && at != end; at.increment(error)) {
    const std::string folder = at->path().filename();
    if (is_python_folder(folder) && try_stat(at->path() / "os.py")) found.push_back(folder);
  }
  if (found.size() == 1) return found.front();
  if (try_stat(base / "lib64") && found.empty())
    throw Error(FailureKind::invalid, fmt::format("{} keeps its library in lib64", shown(base)),
                "take an interpreter that keeps it in lib: a self-built or a standalone one");
  throw Error(FailureKind::invalid,
              fmt::format("{} has {} below lib", shown(base),
                          found.empty() ? "no standard library" : "several standard libraries"),
              "take a self-built or a standalone interpreter, with a prefix of its own");
}

void refuse_system(const fs::path& base, const fs::path& interpreter) {
  if (base != "/usr" && base != "/") return;
  throw Error(
      FailureKind::invalid,
      fmt::format("{} is the system's interpreter: its files lie among those of the system", shown(interpreter)),
      "make the environment with a self-built or a standalone interpreter (pyenv install, uv python install), "
      "and pack that");
}

void refuse_conda(const fs::path& root) {
  if (!try_stat(root / "conda-meta")) return;
  throw Error(FailureKind::invalid, fmt::format("{} is a prefix of conda: its files name the place", shown(root)),
              "make a virtual environment with its packages, and pack that");
}

void read_venv(PrefixSource& source, const std::string& text) {
  source.is_venv = true;
  const std::string system = to_lower(venv_setting(text, "include-system-site-packages"));
  if (system == "true")
    throw Error(FailureKind::invalid, fmt::format("{} also uses packages of its interpreter", shown(source.root)),
                "make it again without system-site-packages, with all that it needs in it");
  source.interpreter = interpreter_of(source.root / "bin");
  if (!is_below(source.interpreter, source.root)) return;
  const fs::path home = venv_setting(text, "home");  // the interpreter is a copy
  if (!home.is_absolute() || is_below(home, source.root))
    throw Error(FailureKind::invalid, fmt::format("{} does not say where its interpreter is", shown(source.root)),
                "make the environment again");
  source.interpreter = interpreter_of(home);
}

}  // namespace

PrefixSource prefix_source(const fs::path& prefix, bool interpreter_only, bool of_conda) {
  PrefixSource source;
  source.given = absolute_path(prefix).lexically_normal();
  if (source.given.filename().empty()) source.given = source.given.parent_path();
  source.root = real_directory(prefix);
  if (!of_conda) refuse_conda(source.root);
  if (const auto text = try_read_text(source.root / "pyvenv.cfg", 64 << 10)) {
    read_venv(source, *text);
  } else {
    source.interpreter = interpreter_of(source.root / "bin");
    if (!is_below(source.interpreter, source.root)) {
      refuse_system(source.interpreter.parent_path().parent_path(), source.interpreter);
      throw Error(
          FailureKind::invalid,
          fmt::format("the interpreter of {} is {}, outside of it", shown(source.root), shown(source.interpreter)),
          "name a virtual environment, or a prefix that has an interpreter of its own");
    }
  }
  source.base = source.interpreter.parent_path().parent_path();
  if (source.interpreter.parent_path().filename() != "bin")
    throw Error(FailureKind::invalid, fmt::format("{} lies in no folder bin", shown(source.interpreter)),
                "take an interpreter of the usual form: PREFIX/bin/python3");
  refuse_system(source.base, source.interpreter);
  if (!of_conda || source.base != source.root) refuse_conda(source.base);
  if (!source.is_venv && source.base != source.root)
    throw Error(FailureKind::invalid,
                fmt::format("{} is not the prefix of {}", shown(source.root), shown(source.interpreter)),
                fmt::format("name {}", shown(source.base)));
  if (!source.is_venv && !interpreter_only && source.base == "/usr/local")
    throw Error(FailureKind::invalid, "/usr/local holds more than an environment",
                "make a virtual environment with its interpreter, and pack that");
  source.python = library_folder(source.base, source.interpreter);
  if (try_whole_number(std::string_view(source.python).substr(8)).value_or(0) < 9)
    throw Error(FailureKind::invalid,
                fmt::format("{} cannot compile for a tree that moves: Python 3.9 or newer can", source.python),
                "take a newer interpreter");
  if (source.is_venv && !try_stat(source.packages()))
    throw Error(
        FailureKind::invalid,
        fmt::format("{} has no {}", shown(source.root), shown(fs::path("lib") / source.python / "site-packages")),
        "make the environment again: it belongs to another interpreter");
  return source;
}

}  // namespace sabath
