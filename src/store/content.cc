#include "store/content.h"

#include <fcntl.h>

#include <algorithm>

#include "store/state.h"

namespace sabath {

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
    if (auto fd = try_open_file(object, O_RDONLY)) return Content(std::move(*fd), object);
    if (auto bytes = state_->packs.read(digest)) return Content(std::move(*bytes), object);
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
  if (try_stat(object)) return ContentPlace{object, 0, digest.size_bytes};
  const auto place = state_->packs.find(digest);
  if (!place || place->member.codec != PackCodec::raw) return std::nullopt;
  return ContentPlace{place->pack->file, place->member.offset, digest.size_bytes};
}

bool Store::has(const Digest& digest) const {
  return try_stat(state_->layout.object(digest)) || state_->packs.find(digest);
}

}  // namespace sabath
