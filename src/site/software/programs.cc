#include "software/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "software/places.h"

namespace sabath {

namespace fs = std::filesystem;

std::vector<std::string> parts_between(std::string_view text, char separator, std::size_t max) {
  std::vector<std::string> parts;
  while (!text.empty() && parts.size() < max) {
    const auto end = std::min(text.find(separator), text.size());
    if (const auto part = trim(text.substr(0, end)); !part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void Programs::pass_over(const std::string& what, const std::string& why) {
  const std::string shown = printable(what, 4096);
  const auto same = [&](const PassedOver& one) { return one.what == shown; };
  if (std::ranges::none_of(passed_over_, same)) passed_over_.push_back({shown, why});
}

fs::path Programs::find(const std::string& name, std::string& why) {
  fs::path found;
  if (name.starts_with('/')) {
    found = name;
  } else {
    for (const std::string& directory : parts_between(environment_.get("PATH").value_or("/usr/bin:/bin"), ':')) {
      const fs::path file = fs::path(directory) / name;
      struct stat status {};
      if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || ::access(file.c_str(), X_OK) != 0) continue;
      found = file;
      break;
    }
  }
  if (found.empty() || (name.starts_with('/') && ::access(found.c_str(), X_OK) != 0)) {
    why = fmt::format("{} is not {}", printable(name), name.starts_with('/') ? "there" : "on PATH");
    return {};
  }
  const auto others = !found.is_absolute() ? "it is on PATH by a path that begins nowhere" : owners_.why_not(found);
  if (!others) return found;
  pass_over(found.string(), *others);
  why = fmt::format("not asked: {} is {}", printable(found.native(), 1000), *others);
  return {};
}

ProgramAnswer Programs::ask_for(std::chrono::seconds patience, std::vector<std::string> argv,
                                const std::map<std::string, std::string>& changes, std::size_t output_max) {
  ProgramAnswer answer;
  const fs::path file = find(argv[0], answer.why);
  if (file.empty()) return answer;
  answer.program = argv[0] = file.string();
  Command command;
  command.argv = std::move(argv);
  auto variables = variables_for_programs(environment_, owners_);
  for (const auto& [name, value] : changes) variables[name] = value;
  for (const auto& [name, value] : environment_.variables) variables.try_emplace(name, "");  // not set there
  command.environment.assign(variables.begin(), variables.end());
  command.directory = "/";
  command.deadline = patience;
  command.output_max = output_max;
  try {
    CommandResult result = run_command(command, stop_);
    answer.out = std::move(result.out);
    answer.err = std::move(result.err);
    if (result.status != 0) {
      const std::string_view said = trim(answer.err);
      answer.why = fmt::format("it ended with {}: {}", result.status, printable(said.substr(0, said.find('\n'))));
    } else if (answer.out.size() >= output_max || answer.err.size() >= output_max) {
      answer.why = fmt::format("it says more than {}", format_bytes(output_max));
    } else {
      answer.came = true;
    }
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::interrupted) throw;
    answer.why = error.failure().message.find("deadline") != std::string::npos
                     ? fmt::format("it did not end within {} s", patience.count())
                     : error.failure().message;
  }
  return answer;
}

}  // namespace sabath
