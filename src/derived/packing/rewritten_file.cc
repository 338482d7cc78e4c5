#include "packing/rewritten_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

void write_text(const std::filesystem::path& file, std::string_view text, int flags) {
  const Fd fd(::open(file.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600));
  if (!fd && errno == EEXIST)
    throw Error(FailureKind::invalid, fmt::format("{} is in the way", printable(file.filename().native())),
                "rename it");
  if (!fd) throw_errno("write", file, errno);
  write_all(fd.get(), std::as_bytes(std::span(text)), file);
  if ((flags & O_CREAT) != 0 && ::fchmod(fd.get(), 0644) != 0) throw_errno("chmod", file, errno);
}

bool goes_on(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-' ||
         c == '+';
}

}  // namespace

bool rewrite_file(const std::filesystem::path& file, std::string_view text) {
  const auto before = try_lstat(file);
  if (before && static_cast<std::size_t>(before->st_size) == text.size() && try_read_text(file, text.size()) == text)
    return false;
  write_text(file, text, O_TRUNC);
  return true;
}

void write_new_file(const std::filesystem::path& file, std::string_view text) {
  write_text(file, text, O_CREAT | O_EXCL);
}

std::string with_place(std::string_view text, std::string_view old, std::string_view by) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; !old.empty();) {
    const std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) return result.append(text.substr(at));
    const std::size_t after = found + old.size();
    result.append(text.substr(at, found - at));
    result.append(after < text.size() && goes_on(text[after]) ? old : by);
    at = after;
  }
  return std::string(text);
}

}  // namespace sabath
