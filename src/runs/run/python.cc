#include "run/python.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

// Arguments: the version that is wanted, then the packages. A version that cannot be compared counts as met if the
// package is there at all: Debian's Python has no `packaging`.
constexpr const char* probe = R"python(
import importlib.metadata as metadata, importlib.util as util, json, re, sys
try:
    from packaging.specifiers import SpecifierSet
except ImportError:
    SpecifierSet = None

def numbers(text):
    return [int(part) for part in re.findall(r"\d+", text)[:4]]

def accepts(wanted, version):
    if SpecifierSet:
        try:
            return SpecifierSet(wanted).contains(version, prereleases=True)
        except ValueError:
            return True
    for relation, bound in re.findall(r"(==|>=|<=|!=|~=|>|<)\s*([\w.]+)", wanted):
        have, want = numbers(version), numbers(bound)
        length = max(len(have), len(want))
        a, b = have + [0] * (length - len(have)), want + [0] * (length - len(want))
        if not {"==": a == b, "!=": a != b, ">=": a >= b, "<=": a <= b, ">": a > b, "<": a < b,
                "~=": a >= b and a[:len(want) - 1] == b[:len(want) - 1]}[relation]:
            return False
    return True

def met(need):
    match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*(.*)", need)
    if not match:
        return False
    try:
        return accepts(match[2], metadata.version(match[1]))
    except metadata.PackageNotFoundError:
        return not match[2] and util.find_spec(match[1].replace("-", "_").split(".")[0]) is not None

version = ".".join(map(str, sys.version_info[:3]))
missing = ["python" + sys.argv[1]] if sys.argv[1] and not accepts(sys.argv[1], version) else []
missing += [need for need in sys.argv[2:] if not met(need)]
packages = {str(each.metadata["Name"]): str(each.version) for each in list(metadata.distributions())[:2000]}
print(json.dumps({"program": sys.executable, "version": version, "missing": missing, "packages": packages}))
)python";

Python read_facts(const std::string& text) {
  Python python;
  const auto facts = nlohmann::json::parse(text, nullptr, false);
  if (!facts.is_object()) return python;
  python.program = facts.value("program", "");
  python.version = facts.value("version", "");
  python.packages = facts.value("packages", std::map<std::string, std::string>());
  python.missing = facts.value("missing", std::vector<std::string>());
  return python;
}

CommandResult run_with(std::vector<std::string> argv, const VariableMap& environment, std::chrono::seconds deadline,
                       const std::stop_token& stop) {
  Command command;
  if (argv.front().find('/') != std::string::npos) argv.front() = absolute_path(argv.front()).string();
  command.argv = std::move(argv);
  command.directory = "/";  // a Python of -c and -m imports what is in its directory, which may be another user's
  command.environment.assign(environment.begin(), environment.end());
  command.deadline = deadline;
  return run_command(command, stop);
}

Python probe_python(const std::string& program, const Requirements& requirements, const VariableMap& environment,
                    const std::stop_token& stop) {
  std::vector<std::string> argv{program, "-c", probe, requirements.python};
  argv.insert(argv.end(), requirements.pip.begin(), requirements.pip.end());
  try {
    const CommandResult result = run_with(std::move(argv), environment, std::chrono::seconds(60), stop);
    return result.status == 0 ? read_facts(result.out) : Python{};
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
    return {};
  }
}

}  // namespace

Python choose_python(const std::vector<std::string>& candidates, const Requirements& requirements,
                     const VariableMap& environment, const std::stop_token& stop) {
  Python nearest;
  const std::string path = variable_of(environment, "PATH");
  for (const std::string& candidate : candidates) {
    const std::string program = find_program(candidate, path);
    if (program.empty() || !try_stat(program)) continue;
    Python python = probe_python(program, requirements, environment, stop);
    if (python.program.empty()) continue;
    python.program = program;  // as it was named: a virtual environment is known by the path
    if (python.missing.empty()) return python;
    if (nearest.program.empty() || python.missing.size() < nearest.missing.size()) nearest = std::move(python);
  }
  return nearest;
}

std::string make_python(const std::filesystem::path& directory, const std::string& base,
                        const Requirements& requirements, const VariableMap& environment, const std::stop_token& stop) {
  const std::string program = (directory / "bin/python").string();
  const auto mark = directory / "complete";
  if (try_stat(mark)) return program;
  const auto must = [&](std::vector<std::string> argv, std::string_view what) {
    const CommandResult result = run_with(std::move(argv), environment, std::chrono::hours(1), stop);
    if (result.status == 0) return;
    throw Error(FailureKind::command,
                fmt::format("cannot {} in {}: {}", what, directory.string(), printable(trim(result.err), 600)),
                fmt::format("what is there already serves with {} none", option_text("env")));
  };
  remove_tree(directory);
  make_directories(directory.parent_path());
  must({base, "-m", "venv", "--system-site-packages", absolute_path(directory).string()}, "make a virtual environment");
  if (!requirements.pip.empty()) {
    std::vector<std::string> argv{program, "-m", "pip", "install", "--disable-pip-version-check", "--"};
    argv.insert(argv.end(), requirements.pip.begin(), requirements.pip.end());
    must(std::move(argv), "install what the recipe needs");
  }
  write_text_atomically(mark, "");
  return program;
}

}  // namespace sabath
