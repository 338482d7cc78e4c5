#include "serve/content.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "store/disk/layout.h"

namespace sabath {
namespace {

constexpr std::uint64_t packed_size_max = 64ULL << 20;  // a pack's members are small

// Opens a regular file of the right size; nullopt: a collection may take a name away at any moment.
std::optional<ServedContent> try_open(const std::filesystem::path& path, std::optional<std::uint64_t> size,
                                      std::string etag) {
  auto file = try_open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return std::nullopt;
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) throw_errno("look at", path, errno);
  const auto found = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || (size && *size != found)) return std::nullopt;
  return ServedContent{.file = std::move(*file), .bytes = {}, .size_bytes = found, .etag = std::move(etag)};
}

std::optional<ServedContent> open_object(Store& store, const Digest& digest) {
  const std::string etag = fmt::format("\"{}.{}\"", digest.hash.hex(), digest.size_bytes);
  for (int i = 0; i < 2 && store.present(digest); ++i) {  // twice: it may be moved between the two steps
    if (auto content = try_open(store.object_path(digest), digest.size_bytes, etag)) return content;
    if (auto text = store.text_of(digest, packed_size_max)) {
      return ServedContent{.file = Fd(), .bytes = std::move(*text), .size_bytes = digest.size_bytes, .etag = etag};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ServedContent> open_content(Store& store, const Target& target) {
  switch (target.kind) {
    case Target::Kind::about:
      return std::nullopt;
    case Target::Kind::object:
      return open_object(store, target.digest);
    case Target::Kind::manifest:
      return try_open(Layout(store.directory()).manifest(target.root), std::nullopt,
                      fmt::format("\"{}\"", target.root.hex()));
    case Target::Kind::checksum:
      break;
  }
  const auto digest = store.alias(target.algorithm, target.hex);
  return digest ? open_object(store, *digest) : std::nullopt;
}

}  // namespace sabath
