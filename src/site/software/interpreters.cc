#include "software/interpreters.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "base/text.h"
#include "software/module_words.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t packages_max = 20'000;

// Reads names and versions only: no package is imported, and no file of this directory or of PYTHONPATH is.
constexpr const char* python_asked = R"py(
import sys
from importlib import metadata
places = list(sys.path)
try:
    import site
    places.append(site.getusersitepackages())
except Exception:
    pass
print("%d.%d.%d" % sys.version_info[:3])
for one in metadata.distributions(path=places):
    name = one.metadata["Name"]
    if name:
        print("%s==%s" % (name, one.version))
)py";

}  // namespace

std::optional<SiteInterpreter> parse_python_answer(std::string_view text) {
  const auto lines = parts_between(text, '\n', packages_max + 1);
  if (lines.empty() || !is_digit(lines[0].front()) || !is_plain_value(lines[0])) return std::nullopt;
  SiteInterpreter interpreter;
  interpreter.version = lines[0];
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto equals = lines[i].find("==");
    if (equals == std::string::npos || equals == 0 || equals + 2 == lines[i].size() || !is_plain_value(lines[i]))
      continue;
    interpreter.packages.try_emplace(lines[i].substr(0, equals), lines[i].substr(equals + 2));
  }
  return interpreter;
}

void detect_interpreters(Programs& programs, SiteProfile& profile) {
  std::set<fs::path> seen;
  for (const char* name : {"python3", "python"}) {
    std::string why;
    const fs::path file = programs.find(name, why);
    if (file.empty()) {
      profile.machine.push_back({name, "none", why});
      continue;
    }
    std::error_code unknown;
    if (!seen.insert(fs::canonical(file, unknown)).second) continue;
    const ProgramAnswer answer = programs.ask({file.string(), "-I", "-c", python_asked}, {}, 4 << 20);
    auto interpreter = answer.came ? parse_python_answer(answer.out) : std::nullopt;
    if (!interpreter) {
      profile.machine.push_back({name, file.string(), answer.came ? "its answer has another form" : answer.why});
      continue;
    }
    interpreter->program = file.string();
    interpreter->known = "it says so itself";
    profile.interpreters.push_back(std::move(*interpreter));
  }
}

std::vector<Software> software_of(const SiteInterpreter& interpreter) {
  std::vector<Software> all;
  const auto add = [&](const std::string& name, const std::string& version) {
    Software one;
    one.name = name;
    one.version = version;
    one.program = interpreter.program;
    one.known = interpreter.known;
    all.push_back(std::move(one));
  };
  add("python", interpreter.version);
  for (const auto& [name, version] : interpreter.packages) add(name, version);
  return all;
}

}  // namespace sabath
