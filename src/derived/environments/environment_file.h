// environment.yml of conda: channels, specs, and what pip would install. Strict. Pure; any thread. Throws
// Error{invalid}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath {

struct CondaEnvironment {
  std::vector<std::string> channels;
  std::vector<std::string> specs;    // "numpy>=1.2": none begins with '-'
  std::vector<std::string> remarks;  // keys that are passed over
};

// A list below `pip:` is refused: it says where those belong.
[[nodiscard]] CondaEnvironment read_environment_yml(std::string_view text, const std::string& origin);
// A channel's name or URL as it may stand in an environment.yml, and in an option.
[[nodiscard]] bool is_conda_channel(std::string_view text);

}  // namespace sabath
