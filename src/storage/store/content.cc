#include "store/content.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "sabath/error.h"
#include "store/disk/below.h"
#include "store/disk/clone.h"
#include "store/disk/durable.h"
#include "store/state.h"

namespace sabath {
namespace {

// In a store of several users a member may write into his file after it was compared, and give any file its name.
bool is_right(Store::State& store, int fd, const Digest& digest) {
  struct stat s {};
  if (!store.layout.of_several_users()) return true;
  return ::fstat(fd, &s) == 0 && store.owners.trusts(s) && store.evidence.matches(digest, s);
}

// A copy of which each byte was compared; it takes the name of the object, so that it is copied once. nullopt: the file
// does not hold the content.
std::optional<Fd> own_copy(Store::State& store, int from, const std::filesystem::path& name, const Digest& digest) {
  struct stat s {};
  const bool regular = ::fstat(from, &s) == 0 && S_ISREG(s.st_mode);
  if (!regular || static_cast<std::uint64_t>(s.st_size) != digest.size_bytes) return std::nullopt;
  Temporaries::File to = store.temporaries.new_file();
  const bool cloned = store.reflinks() && try_clone(from, to.fd.get(), to.path);
  const Digest found = cloned ? hash_file(to.fd.get(), digest.size_bytes, to.path).digest
                              : copy_hashed(from, name, to.fd.get(), to.path).digest;
  try {
    if (found != digest) throw Error(FailureKind::storage, "it is other content");
    store.layout.members().heed(from);
    store.layout.members().seal(to.fd.get(), to.path);
    sync_file(to.fd.get(), to.path);
    rename_below(store.layout.root(), to.path, name);
    store.objects.attest(digest, name);
  } catch (const Error&) {  // a store that cannot be written: the copy serves without a name
    ::unlink(to.path.c_str());
  }
  return found == digest ? std::optional(std::move(to.fd)) : std::nullopt;
}

}  // namespace

std::size_t Content::read(std::uint64_t offset, std::span<std::byte> room) const {
  if (fd_) return read_at(fd_.get(), room, offset, name_);
  if (offset >= bytes_.size()) return 0;
  const auto part = std::span(bytes_).subspan(offset).first(std::min<std::size_t>(room.size(), bytes_.size() - offset));
  std::ranges::copy(part, room.begin());
  return part.size();
}

std::optional<Content> Store::open_content(const Digest& digest) const {
  constexpr int attempts = 3;  // a collection may be taking it away; a miss brings it back
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto object = state_->layout.object(digest);
    if (auto fd = try_open_file(object, O_RDONLY | O_NONBLOCK)) {
      if (is_right(*state_, fd->get(), digest)) return Content(std::move(*fd), object);
      if (auto own = own_copy(*state_, fd->get(), object, digest)) return Content(std::move(*own), object);
      state_->objects.quarantine(object);
      continue;
    }
    auto bytes = state_->packs.read(digest);
    if (bytes && is_content(*bytes, digest)) return Content(std::move(*bytes), object);
    if (bytes) state_->packs.distrust(digest);
    if (!state_->present(digest)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> Store::text_of(const Digest& digest, std::uint64_t size_max) const {
  const auto content = digest.size_bytes <= size_max ? open_content(digest) : std::nullopt;
  if (!content) return std::nullopt;
  std::string text(digest.size_bytes, '\0');
  text.resize(content->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

bool Store::has(const Digest& digest) const {
  return try_stat(state_->layout.object(digest)) || state_->packs.find(digest);
}

}  // namespace sabath
