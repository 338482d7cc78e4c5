#include "base/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t file_size_max = 1024 * 1024;
constexpr std::size_t secret_size_max = 8 * 1024;

}  // namespace

Secret read_secret_file(const std::filesystem::path& file) {
  const std::string shown = printable(file.string());
  const auto fd = try_open_file(file, O_RDONLY | O_NONBLOCK);
  if (!fd) throw Error(FailureKind::usage, fmt::format("there is no file {}", shown));
  struct stat status {};
  if (::fstat(fd->get(), &status) != 0) throw_errno("look at", file, errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) > file_size_max) {
    throw Error(FailureKind::usage, fmt::format("{} is no file that holds a secret", shown));
  }
  if ((status.st_mode & 077) != 0 || (status.st_uid != ::getuid() && status.st_uid != 0)) {
    throw Error(FailureKind::access, fmt::format("{} is not used: others may read it, or it is not yours", shown),
                fmt::format("chmod 600 {}", shell_word(file.string())));
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  text.resize(read_at(fd->get(), std::as_writable_bytes(std::span(text)), 0, file));
  return Secret(std::move(text));
}

Secret read_token_file(const std::filesystem::path& file) {
  return checked_token(read_secret_file(file).reveal(), file.string());
}

Secret checked_token(std::string_view text, std::string_view name) {
  const std::string_view token = trim(text);
  const bool visible = std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (token.empty() || token.size() > secret_size_max || !visible) {
    throw Error(FailureKind::usage, fmt::format("{} holds no token: one line of visible ASCII", printable(name)));
  }
  return Secret(std::string(token));
}

}  // namespace sabath
