#include "run/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/process.h"
#include "base/text.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

bool is_name_character(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

// The name at the front of "NAME..." or "{NAME}...", and how much of the text it takes.
std::pair<std::string, std::size_t> name_at(std::string_view text) {
  const bool braced = text.starts_with('{');
  std::size_t end = braced ? 1 : 0;
  while (end < text.size() && is_name_character(text[end], end == (braced ? 1U : 0U))) ++end;
  const std::string name(text.substr(braced ? 1 : 0, end - (braced ? 1 : 0)));
  if (name.empty() || (braced && (end == text.size() || text[end] != '}'))) return {"", 0};
  return {name, end + (braced ? 1 : 0)};
}

// The whole shell script: names of modules reach it as arguments only.
constexpr const char* loader = R"sh(
. "$1" >&2 || exit 1
shift
for name; do
  module load "$name" >&2 || exit 1
  case ":${LOADEDMODULES-}:" in *:"$name":* | *:"$name"/*) ;; *) [ -z "${LOADEDMODULES+set}" ] || exit 1 ;; esac
done
exec env -0
)sh";

}  // namespace

std::string variable_of(const VariableMap& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

std::string expand_variables(const std::string& text, const VariableMap& environment) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto [name, taken] = text[at] == '$' ? name_at(std::string_view(text).substr(at + 1)) : std::pair("", 0UL);
    if (taken == 0) {
      result += text[at];
      continue;
    }
    result += variable_of(environment, name);
    at += taken;
  }
  return result;
}

void add_recipe_variables(VariableMap& environment, const std::map<std::string, std::string>& variables) {
  const VariableMap before = environment;
  for (const auto& [name, text] : variables) {
    const std::string value = expand_variables(text, before);
    if (!value.empty() || text.empty()) environment[name] = value;
  }
}

VariableMap load_modules(const Site& site, const std::vector<std::string>& modules, const VariableMap& environment,
                         const std::stop_token& stop) {
  if (modules.empty()) return environment;
  if (site.module_script.empty()) {
    throw Error(
        FailureKind::not_found,
        fmt::format("the recipe needs modules, and the site profile {} does not say how to load them", site.name),
        fmt::format("name a profile with {} that has \"module_script\", or say {} none", option_text("site"),
                    option_text("env")));
  }
  Command command;
  command.argv = {"bash", "--noprofile", "--norc", "-c", loader, "sabath", absolute_path(site.module_script).string()};
  command.argv.insert(command.argv.end(), modules.begin(), modules.end());
  command.environment.assign(environment.begin(), environment.end());
  // Lua, Tcl and Python of a module system look into the working directory, which may be another user's.
  command.directory = "/";
  command.deadline = std::chrono::minutes(2);
  const CommandResult result = run_command(command, stop);
  if (result.status != 0) {
    throw Error(FailureKind::command,
                fmt::format("cannot load the modules {}: {}", fmt::format("{}", fmt::join(modules, ", ")),
                            printable(trim(result.err), 400)),
                "`module avail` shows this site's names; map the recipe's to them in a site profile");
  }
  VariableMap loaded;
  std::string_view rest = result.out;
  while (!rest.empty()) {
    const auto end = rest.find('\0');
    const std::string_view line = rest.substr(0, end);
    if (const auto equals = line.find('='); equals != std::string_view::npos)
      loaded.emplace(line.substr(0, equals), line.substr(equals + 1));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  for (const char* own : {"_", "SHLVL", "PWD", "OLDPWD"}) loaded.erase(own);
  return loaded;
}

std::vector<std::string> lines(const VariableMap& environment) {
  std::vector<std::string> all;
  for (const auto& [name, value] : environment) all.push_back(name + "=" + value);
  return all;
}

}  // namespace sabath
