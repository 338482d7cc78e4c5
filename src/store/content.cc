#include "store/content.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "store/disk/clone.h"
#include "store/state.h"

namespace sabath {
namespace {

// A member who is not trusted may write into his file after it was compared.
bool may_change(const Store::State& store, const struct stat& file) {
  return store.layout.of_several_users() && !store.owners.trusts(file);
}

bool may_change(const Store::State& store, int fd) {
  struct stat s {};
  return ::fstat(fd, &s) != 0 || may_change(store, s);
}

// Any member may also give another file its name.
bool may_change(const Store::State& store, const std::filesystem::path& name) {
  const auto s = try_stat(name);
  return !s || may_change(store, *s);
}

// A copy without a name, of which each byte was compared; nullopt: the file does not hold the content.
std::optional<Fd> own_copy(Store::State& store, int from, const std::filesystem::path& name, const Digest& digest) {
  Temporaries::File to = store.temporaries.new_file();
  ::unlink(to.path.c_str());
  struct stat s {};
  const bool regular = ::fstat(from, &s) == 0 && S_ISREG(s.st_mode);
  if (!regular || static_cast<std::uint64_t>(s.st_size) != digest.size_bytes) return std::nullopt;
  const bool cloned = store.reflinks() && try_clone(from, to.fd.get(), to.path);
  const Digest found = cloned ? hash_file(to.fd.get(), digest.size_bytes, to.path).digest
                              : copy_hashed(from, name, to.fd.get(), to.path).digest;
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
      if (!may_change(*state_, fd->get())) return Content(std::move(*fd), object);
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

std::optional<ContentPlace> Store::place_of(const Digest& digest) const {
  const auto object = state_->layout.object(digest);
  if (try_stat(object)) {
    return may_change(*state_, object) ? std::nullopt : std::optional(ContentPlace{object, 0, digest.size_bytes});
  }
  const auto place = state_->packs.find(digest);
  if (!place || place->member.codec != PackCodec::raw || may_change(*state_, place->pack->file)) return std::nullopt;
  return ContentPlace{place->pack->file, place->member.offset, digest.size_bytes};
}

bool Store::has(const Digest& digest) const {
  return try_stat(state_->layout.object(digest)) || state_->packs.find(digest);
}

}  // namespace sabath
