#include "packed/activation.h"

#include "base/text.h"

namespace sabath {

void activate_packed(std::map<std::string, std::string>& variables, const std::filesystem::path& environment) {
  const std::string bin = (environment / "bin").string();
  std::string& path = variables["PATH"];
  path = path.empty() ? bin : bin + ":" + path;
  variables["SABATH_ENV"] = environment.string();
  variables["PYTHONNOUSERSITE"] = "1";
  for (const char* name : variables_of_other_environments) variables.erase(name);
}

std::string activation_line(const std::filesystem::path& environment) {
  return ". " + shell_word((environment / "bin/activate").string());
}

}  // namespace sabath
