// A slow disk, to be preloaded: each write of 1 MiB or more takes SLOW_WRITES_MS milliseconds longer. The waits are the
// writing threads' own, so a signal ends the program as it would on any disk.
#undef _FILE_OFFSET_BITS  // with it pwrite would be compiled under the name pwrite64, and both are defined here
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

constexpr size_t large_bytes = 1 << 20;

ssize_t write_slowly(int fd, const void* data, size_t size, off64_t offset) {
  const char* milliseconds = std::getenv("SLOW_WRITES_MS");
  if (size >= large_bytes && milliseconds != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(milliseconds)));
  }
  return ::syscall(SYS_pwrite64, fd, data, size, offset);
}

}  // namespace

extern "C" {

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) { return write_slowly(fd, data, size, offset); }
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) { return write_slowly(fd, data, size, offset); }

}  // extern "C"
