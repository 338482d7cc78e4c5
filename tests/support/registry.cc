#include "support/registry.h"

#include <fmt/format.h>

#include "support/seeded.h"

namespace sabath::test {
namespace {

constexpr const char* repository = "lab/data";

}  // namespace

std::string Registry::unavailable_because() {
  return find_program("docker-registry").empty() ? "docker-registry is not installed (scripts/setup full)" : "";
}

Registry::Registry(const RegistryOptions& options) {
  server_ = start_server(
      [&](std::uint16_t port) {
        write_file(directory_ / "config.yml",
                   fmt::format("version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\n"
                               "http: {{addr: '127.0.0.1:{}'}}\n{}\n",
                               directory_.path().string(), port, options.more));
        return std::vector<std::string>{"docker-registry", "serve", directory_ / "config.yml"};
      },
      directory_ / "output.log");
  relay_ = std::make_unique<Relay>(server_.port, options.rate);
}

std::filesystem::path Registry::place(const std::string& sha256) const {
  const std::filesystem::path store = directory_ / "docker/registry/v2";
  const std::filesystem::path link = store / "repositories" / repository / "_layers/sha256" / sha256 / "link";
  if (std::filesystem::create_directories(link.parent_path())) write_file(link, "sha256:" + sha256);  // it may be read
  const std::filesystem::path blob = store / "blobs/sha256" / sha256.substr(0, 2) / sha256;
  std::filesystem::create_directories(blob);
  return blob / "data";
}

std::string Registry::url(const std::string& sha256) const {
  return fmt::format("oci://127.0.0.1:{}/{}@sha256:{}", relay_->port(), repository, sha256);
}

std::string Registry::blob_url(const std::string& sha256) const {
  return fmt::format("http://127.0.0.1:{}/v2/{}/blobs/sha256:{}", relay_->port(), repository, sha256);
}

void Registry::kill() {
  server_.child->kill();
  relay_->cut();
}

}  // namespace sabath::test
