#include "sabath/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <string_view>
#include <system_error>

namespace sabath {
namespace {

struct User {
  std::string name, home;
};

User user_of_process() {
  struct passwd entry {};
  struct passwd* found = nullptr;
  std::string buffer(16384, '\0');
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return {found->pw_name, found->pw_dir};
}

}  // namespace

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = variables.find(name);
  if (found == variables.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::filesystem::path Environment::base_directory(const char* variable, const char* below_home) const {
  if (const auto directory = get(variable); directory && std::filesystem::path(*directory).is_absolute()) {
    return *directory;
  }
  return home.empty() ? std::filesystem::path() : home / below_home;
}

Environment Environment::of_process() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  const User user = user_of_process();
  environment.home = environment.get("HOME").value_or(user.home);
  environment.user = user.name.empty() ? environment.get("USER").value_or("") : user.name;
  std::error_code unknown;
  environment.executable = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return environment;
}

}  // namespace sabath
