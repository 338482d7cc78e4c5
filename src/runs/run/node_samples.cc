#include "run/node_samples.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "sabath/error.h"

namespace sabath {
namespace {

// $1 to $5: sabath sample --to DIRECTORY --
constexpr const char* starter = R"(if [ -x "$1" ]; then exec "$@"; fi; shift 5; exec "$@")";

std::filesystem::path file_of(const std::filesystem::path& directory, const std::string& node) {
  return directory / (node + ".jsonl");
}

}  // namespace

std::filesystem::path samples_of(const std::filesystem::path& run, std::size_t step) {
  return run / "resources" / fmt::to_string(step + 1);
}

std::vector<std::string> sampled(const std::string& sabath, const std::filesystem::path& directory,
                                 const std::vector<std::string>& program) {
  if (sabath.empty()) return program;
  std::vector<std::string> argv{"/bin/sh", "-c", starter, "sh", sabath, "sample", "--to", directory.string(), "--"};
  argv.insert(argv.end(), program.begin(), program.end());
  return argv;
}

void claim_node(const std::filesystem::path& directory, const std::string& node) {
  try {
    make_directories(directory);
    [[maybe_unused]] const int made = ::symlink("../../resources.jsonl", file_of(directory, node).c_str());
  } catch (const Error&) {}
}

std::optional<int> nodes_seen(const std::filesystem::path& directory) {
  std::error_code error;
  const auto files = std::filesystem::directory_iterator(directory, error);
  const auto seen = error ? 0 : std::ranges::distance(files);
  return seen > 1 ? std::optional(static_cast<int>(seen)) : std::nullopt;
}

std::optional<std::filesystem::path> try_claim_node(const std::filesystem::path& directory, const std::string& node) {
  make_directories(directory);
  const auto file = file_of(directory, node);
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() >= 0) return file;
  if (errno == EEXIST) return std::nullopt;
  throw_errno("create", file, errno);
}

}  // namespace sabath
