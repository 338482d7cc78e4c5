#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "environments/readers.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool has_line(std::string_view text, std::string_view begin) {
  for (;;) {
    if (text.starts_with(begin)) return true;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void refuse(const std::string& name, const std::string& hint) {
  throw Error(FailureKind::invalid,
              fmt::format("{} is no file that names the packages of an environment", printable(name)), hint);
}

}  // namespace

EnvironmentFormat format_of_file(const std::string& name, std::string_view text) {
  if (name == "pyproject.toml") refuse(name, "lock it with uv or pip, and give the lock: uv.lock, pylock.toml");
  if (name == "Pipfile.lock" || name == "poetry.lock" || name == "pixi.lock" || name == "pdm.lock" || name == "Pipfile")
    refuse(name, "export it as pylock.toml, requirements.txt or a conda explicit list");
  if (name.ends_with(".lock") || name.ends_with(".toml")) {
    if (has_line(text, "lock-version")) return EnvironmentFormat::pylock;
    if (has_line(text, "[[package]]") || name == "uv.lock") return EnvironmentFormat::uv_lock;
    if (name.starts_with("pylock.")) return EnvironmentFormat::pylock;
    refuse(name, "a lock has the key lock-version (pylock.toml), or tables [[package]] (uv.lock)");
  }
  if (name.ends_with(".yml") || name.ends_with(".yaml"))
    return has_line(text, "package:") ? EnvironmentFormat::conda_lock : EnvironmentFormat::environment_yml;
  if (has_line(text, "@EXPLICIT")) return EnvironmentFormat::conda_explicit;
  if (name.ends_with(".whl") || name.ends_with(".json") || text.find('\0') != std::string_view::npos)
    refuse(name, "give requirements.txt, a lock file or environment.yml");
  return EnvironmentFormat::requirements;
}

}  // namespace sabath
