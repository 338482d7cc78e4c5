#include "store/disk/temporaries.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <system_error>
#include <utility>

namespace sabath {
namespace {
constexpr unsigned leftovers_max = 64;  // looked at in one process: an open must stay quick
}  // namespace

Temporaries::Temporaries(const Layout& layout, WriterId writer)
    : all_(layout.temporaries()),
      members_(layout.members()),
      writer_(std::move(writer)),
      directory_(all_ / writer_.text()) {}

Temporaries::~Temporaries() {
  if (next_ > 0) remove_tree(directory_);
}

std::string Temporaries::next_name() {
  std::call_once(used_, [this] { remove_leftovers(); });
  return fmt::format("{}/{}", directory_.native(), next_++);
}

std::filesystem::path Temporaries::new_name() {
  auto name = next_name();
  // Check each time: a scratch purge may remove old directories.
  if (!try_lstat(directory_)) make_directories(directory_);
  return name;
}

Temporaries::File Temporaries::new_file() {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL;
  constexpr mode_t read_only = 0444;
  std::filesystem::path name = next_name();
  Fd fd(::open(name.c_str(), flags | O_CLOEXEC, read_only));
  if (!fd) {  // the first file, or a purge removed the directory; else this throws the cause
    make_directories(directory_);
    fd = open_file(name, flags, read_only);
  }
  return {std::move(name), std::move(fd)};
}

std::filesystem::path Temporaries::new_directory() {
  auto name = new_name();
  make_directories(name);
  if (members_.group()) members_.give_tree(name);
  return name;
}

void Temporaries::remove_leftovers() noexcept {
  try {
    unsigned looked_at = 0;
    std::error_code error;
    for (std::filesystem::directory_iterator it(all_, error), end; !error && it != end; it.increment(error)) {
      if (++looked_at > leftovers_max) return;
      const auto writer = WriterId::try_parse(it->path().filename().native());
      if (writer && life_of(*writer, writer_.host) == Life::dead) remove_tree(it->path());
    }
  } catch (const std::exception&) {  // leftovers do no harm
  }
}

}  // namespace sabath
