#include "file/file.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "sabath/error.h"
#include "set/known_fetchers.h"

namespace sabath {
namespace {

constexpr std::size_t piece_size_bytes = 1024 * 1024;

[[noreturn]] void fail(FailureKind kind, const Url& url, std::string_view why, std::string hint = {}) {
  throw Error(kind, fmt::format("cannot read {}: {}", url.display(), why), std::move(hint));
}

std::filesystem::path path_of(const Url& url) {
  if (!url.host().empty() && url.host() != "localhost") {
    fail(FailureKind::unavailable, url, "a file URL names a file of this machine", "write file:///path");
  }
  std::string path = percent_decode(url.path());
  if (!path.starts_with('/') || path.find('\0') != path.npos)
    fail(FailureKind::unavailable, url, "not an absolute path");
  return path;
}

Fd open_source(const Url& url) {
  const std::filesystem::path path = path_of(url);
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));  // non-blocking: a FIFO must not hang us
  if (fd) return fd;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG || error == ENXIO) {
    fail(FailureKind::unavailable, url, std::strerror(error), "check the path");
  }
  if (error == EACCES || error == EPERM)
    fail(FailureKind::access, url, std::strerror(error), "ask its owner for permission");
  throw_errno("open", path, error);
}

struct stat facts_of(const Fd& fd, const Url& url) {
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) throw_errno("examine", url.display(), errno);
  if (!S_ISREG(facts.st_mode)) fail(FailureKind::unavailable, url, "not a regular file", "name a file");
  return facts;
}

std::string version_of(const struct stat& facts) {
  return fmt::format("{}-{}-{}.{:09}", facts.st_ino, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
}

class FileFetcher : public Fetcher {
 public:
  explicit FileFetcher(decltype(FetcherSettings::admit) admit) : admit_(std::move(admit)) {}
  std::vector<Scheme> schemes() const override { return {{.name = "file", .built = true, .ranges = true}}; }

  void read(const ReadRequest& request, Sink& sink, Traffic& traffic, std::stop_token stop) override {
    const Url& url = request.url;
    if (url.namer() && !url.namer()->user) {
      fail(FailureKind::access, url, "what came over a network, or by a subscription, names no file of this machine",
           "if it is meant, name the file in a recipe of your own");
    }
    const Fd fd = open_source(url);
    if (admit_) admit_(fmt::format("/proc/self/fd/{}", fd.get()), url);  // of the file that is open
    ++traffic.requests;
    const struct stat facts = facts_of(fd, url);
    const std::string version = version_of(facts);
    if (!request.expected.etag.empty() && request.expected.etag != version) {
      fail(FailureKind::changed, url, "the file has changed since it was begun");
    }
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    if (request.offset > size) {
      fail(FailureKind::unavailable, url, fmt::format("it ends at byte {}, before offset {}", size, request.offset));
    }
    sink.begin({.size_bytes = size,
                .ranges = true,
                .validators = {.etag = version, .last_modified = {}},
                .content_type = {},
                .final_url = url.display(),
                .reach = Reach::host});
    const std::uint64_t end = request.offset + std::min(request.length.value_or(UINT64_MAX), size - request.offset);
    copy(fd, request.offset, end, url, sink, traffic, stop);
    if (version_of(facts_of(fd, url)) != version) fail(FailureKind::changed, url, "the file changed while it was read");
  }

 private:
  static void copy(const Fd& fd, std::uint64_t offset, std::uint64_t end, const Url& url, Sink& sink, Traffic& traffic,
                   const std::stop_token& stop) {
    std::vector<std::byte> buffer(std::min<std::uint64_t>(piece_size_bytes, end - offset));
    while (offset < end) {
      if (stop.stop_requested()) fail(FailureKind::interrupted, url, "stopped");
      const std::span piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), end - offset));
      const std::size_t got = read_at(fd.get(), piece, offset, url.display());
      if (got == 0) fail(FailureKind::changed, url, fmt::format("the file ends at byte {} now", offset));
      traffic.bytes += got;
      sink.write(piece.first(got));
      offset += got;
    }
  }

  const decltype(FetcherSettings::admit) admit_;
};

}  // namespace

std::unique_ptr<Fetcher> make_file_fetcher(decltype(FetcherSettings::admit) admit) {
  return std::make_unique<FileFetcher>(std::move(admit));
}

void add_file(KnownFetchers& set, const FetcherParts& parts) {
  set.add(std::make_unique<FileFetcher>(parts.settings.admit));
}

}  // namespace sabath
