#include "support/swift.h"

#include "support/seeded.h"

namespace sabath::test {

std::string Swift::unavailable_because() {
  for (const char* program :
       {"swift-proxy-server", "swift-account-server", "swift-container-server", "swift-object-server"}) {
    if (find_program(program).empty()) return std::string(program) + " is not installed (scripts/setup full)";
  }
  return find_program(python).empty() ? std::string(python) + " is not installed" : "";
}

Swift::Swift(const std::map<std::string, std::string>& objects) {
  server_ = start_server(
      [&](std::uint16_t port) {
        const std::filesystem::path root = directory_ / std::to_string(port);  // each attempt has its own
        for (const auto& [name, bytes] : objects) {
          const std::filesystem::path file = root / "objects" / name;
          std::filesystem::create_directories(file.parent_path());
          write_file(file, bytes);
        }
        return script("python/swift_server.py", {root, std::to_string(port)});
      },
      directory_ / "output.log");
}

std::string Swift::endpoint() const { return "http://127.0.0.1:" + std::to_string(server_.port); }

}  // namespace sabath::test
