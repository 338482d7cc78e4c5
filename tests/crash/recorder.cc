#include "recorder.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <stdexcept>
#include <string>

namespace sabath::crash {
namespace {

namespace fs = std::filesystem;

struct stat status_of(const fs::path& path, bool follow) {
  struct stat s {};
  if ((follow ? ::stat(path.c_str(), &s) : ::lstat(path.c_str(), &s)) != 0)
    throw std::runtime_error("cannot stat " + path.native());
  return s;
}

// The offset of the next write(2) of a descriptor: proc(5).
std::uint64_t position_of(pid_t thread, int descriptor) {
  std::ifstream info(fs::path("/proc") / std::to_string(thread) / "fdinfo" / std::to_string(descriptor));
  std::string word;
  std::uint64_t position = 0;
  while (info >> word) {
    if (word == "pos:") info >> position;
  }
  return position;
}

}  // namespace

Recorder::Recorder(fs::path below, const fs::path& file) : below_(std::move(below)), out_(file, std::ios::binary) {}

std::string Recorder::relative(const fs::path& path) const {
  const std::string name = path.lexically_relative(below_);
  if (name.find_first_of(" \n") != std::string::npos) throw std::runtime_error("a name with a space: " + name);
  return name;
}

void Recorder::before(const Stopped& stopped) {
  if (stopped.call().kind != Kind::make) return;
  struct stat s {};
  stood_[stopped.thread()] = ::lstat(stopped.path(stopped.call().first).c_str(), &s) == 0;
}

void Recorder::after(const Stopped& stopped, std::int64_t result) {
  if (result < 0) return;
  switch (stopped.call().kind) {
    case Kind::make:
      return made(stopped, static_cast<int>(result));
    case Kind::write:
      return written(stopped, result);
    case Kind::size:
      return sized(stopped);
    case Kind::clone:
      return copied(stopped);
    case Kind::sync:
      return synced(stopped);
    case Kind::mode:
    case Kind::mkdir:
    case Kind::remove:
    case Kind::rename:
    case Kind::link:
      return named(stopped);
    case Kind::open:
    case Kind::close:
    case Kind::read:
    case Kind::stat:
    case Kind::list:
      return;
  }
}

void Recorder::made(const Stopped& stopped, int descriptor) {
  const auto s = status_of(stopped.open_file(descriptor), true);
  const auto flags = stopped.call().flags < 0 ? O_TRUNC : static_cast<int>(stopped.argument(stopped.call().flags));
  if (!stood_[stopped.thread()]) {
    out_ << "make " << s.st_ino << " " << relative(stopped.path(stopped.call().first)) << "\n";
    out_ << "mode " << s.st_ino << " " << std::oct << (s.st_mode & 07777) << std::dec << "\n";
  } else if ((flags & O_TRUNC) != 0) {
    out_ << "size " << s.st_ino << " 0\n";
  }
}

void Recorder::written(const Stopped& stopped, std::int64_t result) {
  const Call& call = stopped.call();
  if (call.length < 0) throw std::runtime_error("a vector is written: this recorder cannot read it");
  const int descriptor = static_cast<int>(stopped.argument(0));
  const auto size = static_cast<std::uint64_t>(result);
  const std::uint64_t offset =
      call.offset >= 0 ? stopped.argument(call.offset) : position_of(stopped.thread(), descriptor) - size;
  const std::string bytes = stopped.bytes(stopped.argument(1), size);
  if (bytes.size() != size) throw std::runtime_error("the bytes of a write cannot be read");
  out_ << "write " << status_of(stopped.open_file(descriptor), true).st_ino << " " << offset << " " << size << "\n"
       << bytes << "\n";
}

void Recorder::sized(const Stopped& stopped) {
  const bool open = stopped.call().first.path < 0;
  const auto s = open ? status_of(stopped.open_file(static_cast<int>(stopped.argument(0))), true)
                      : status_of(stopped.path(stopped.call().first), true);
  out_ << "size " << s.st_ino << " " << s.st_size << "\n";
}

void Recorder::named(const Stopped& stopped) {
  const Call& call = stopped.call();
  const auto path = stopped.path(call.first);
  switch (call.kind) {
    case Kind::mkdir:
      out_ << "mkdir " << status_of(path, false).st_ino << " " << relative(path) << "\n";
      return;
    case Kind::remove:
      out_ << "remove " << relative(path) << "\n";
      return;
    case Kind::rename:
      out_ << "rename " << relative(path) << " " << relative(stopped.path(call.second)) << "\n";
      return;
    case Kind::link: {
      const auto to = call.second.path >= 0 ? stopped.path(call.second) : path;
      const auto s = status_of(to, false);
      if (S_ISLNK(s.st_mode))
        out_ << "symlink " << relative(to) << " " << fs::read_symlink(to).native() << "\n";
      else
        out_ << "link " << s.st_ino << " " << relative(to) << "\n";
      return;
    }
    default: {  // mode
      const auto s = call.first.path < 0 ? status_of(stopped.open_file(static_cast<int>(stopped.argument(0))), true)
                                         : status_of(path, true);
      out_ << "mode " << s.st_ino << " " << std::oct << (s.st_mode & 07777) << std::dec << "\n";
    }
  }
}

void Recorder::synced(const Stopped& stopped) {
  if (stopped.call().number == SYS_syncfs) {
    out_ << "syncfs\n";
    return;
  }
  out_ << "sync " << status_of(stopped.open_file(static_cast<int>(stopped.argument(0))), true).st_ino << "\n";
}

// Records a copy inside the kernel as if all of it had been written.
void Recorder::copied(const Stopped& stopped) {
  const auto link = stopped.open_file(static_cast<int>(stopped.argument(stopped.call().first.directory)));
  const auto s = status_of(link, true);
  if (!S_ISREG(s.st_mode)) return;
  std::ifstream in(link, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  out_ << "write " << s.st_ino << " 0 " << bytes.size() << "\n" << bytes << "\n";
}

}  // namespace sabath::crash
