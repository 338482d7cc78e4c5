#include "base/loadable.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <optional>

#include "base/ownership.h"
#include "sabath/error.h"

namespace sabath {

std::variant<Fd, std::string> open_loadable(const std::filesystem::path& file, const std::filesystem::path& program) {
  try {
    auto open = try_open_file(file, O_RDONLY | O_NONBLOCK);
    struct stat opened {};
    if (!open) return "";
    if (::fstat(open->get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return "no regular file";
    const auto named = try_stat(file);
    if (!named || named->st_ino != opened.st_ino || named->st_dev != opened.st_dev) return "it changes just now";
    if (auto why = why_not_own(file, program)) return std::move(*why);
    return std::move(*open);
  } catch (const Error& error) {
    return error.failure().message;
  }
}

// One that finds libraries beside itself ($ORIGIN) needs its name. No other account can exchange it there: all
// directories above it were judged.
void* load(const Fd& file, const std::filesystem::path& name, int flags) {
  Fd kept(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  void* const library = kept ? ::dlopen(fmt::format("/proc/self/fd/{}", kept.get()).c_str(), flags) : nullptr;
  if (library == nullptr) return ::dlopen(name.c_str(), flags);
  kept.release();  // the linker knows the library by this number: no other file may get it as long as it is loaded
  return library;
}

}  // namespace sabath
