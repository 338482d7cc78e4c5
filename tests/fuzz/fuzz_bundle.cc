// Bundles and want-lists come from strangers: any bytes are taken or refused by an Error; only the store is written,
// and its content is right afterwards.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/file.h"
#include "fetch/archives/bundle.h"
#include "fetch/archives/want_list.h"
#include "sabath/error.h"
#include "tar_seal.h"

namespace {

namespace fs = std::filesystem;

void check(bool holds) {
  if (!holds) std::abort();
}

// A store of this process alone, made anew once something stands in it.
class Ground {
 public:
  Ground() : home_(memory() / ("fuzz-bundle-" + std::to_string(::getpid()))) { begin(); }
  ~Ground() {
    store_.reset();
    fs::remove_all(home_);
  }
  void import(int fd) {
    try {
      (void)sabath::read_bundle(*store_, fd, {}, {});
    } catch (const sabath::Error& error) {
      check(error.failure().kind != sabath::FailureKind::internal && !error.failure().message.empty());
    }
    const auto usage = store_->usage();
    if (usage.objects + usage.manifests + usage.partial_bytes == 0) return;
    check(store_->verify(nullptr, 1, {}).bad.empty());
    check(std::distance(fs::directory_iterator(home_), {}) == 1);
    begin();
  }

 private:
  void begin() {
    store_.reset();
    fs::remove_all(home_);
    fs::create_directories(home_);
    store_ = sabath::Store::open(home_ / "store", true);
  }
  static fs::path memory() {  // each run syncs: on a disk it makes ten in a second
    return ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
  }
  const fs::path home_;
  std::unique_ptr<sabath::Store> store_;
};

void take(std::string_view bytes) {
  static Ground ground;
  const sabath::Fd fd(::memfd_create("bundle", MFD_CLOEXEC));
  sabath::write_all_at(fd.get(), std::as_bytes(std::span(bytes)), 0, "bundle");
  ground.import(fd.get());
}

// Every block that looks like a header.
std::string sealed(std::string tar) {
  constexpr std::size_t block = 512, magic = 257;
  for (std::size_t begin = 0; begin + block <= tar.size(); begin += block) {
    if (tar.compare(begin + magic, 5, "ustar") == 0) seal_tar_header(std::span(tar).subspan(begin).first<block>());
  }
  return tar;
}

void parse_list(std::string_view bytes) {
  try {
    const auto list = sabath::parse_want_list(bytes, "list");
    const auto again = sabath::parse_want_list(sabath::encode_want_list(list), "list");
    check(again.assets == list.assets && again.pieces == list.pieces && again.kind == list.kind);
  } catch (const sabath::Error& error) {
    check(error.failure().kind == sabath::FailureKind::invalid);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  parse_list(text);
  if (const auto run = sabath::try_parse_run(text)) check(run->text() == text && run->bytes() <= run->file.size_bytes);
  take(text);
  const std::string tar = sealed(std::string(text));
  if (tar != text) take(tar);
  return 0;
}
