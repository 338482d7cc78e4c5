#include "fetch/archives/want_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <unordered_set>

#include "base/hash.h"
#include "base/wording.h"
#include "manifest/wire.h"
#include "sabath/error.h"
#include "store/chunk_index.h"
#include "store/disk/layout.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

constexpr std::string_view want_magic = "sabath-want 1 ";
constexpr std::size_t want_name_size_max = 255;

PieceKey key_of(char kind, std::uint64_t length, const Sha256& hash) {
  std::string text(1, kind);
  wire::put(text, length);
  wire::put_hash(text, hash);
  const Sha256 whole = sha256(text);
  PieceKey key;
  std::copy_n(whole.bytes().begin(), key.size(), key.begin());
  return key;
}

void sort_once(std::vector<PieceKey>& pieces) {
  std::ranges::sort(pieces);
  pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
}

template <typename Visit>
void for_each_piece(const Manifest& manifest, const Entry& file, const Visit& visit) {
  const std::uint64_t size = file.digest.size_bytes;
  if (chunk_count(size) <= 1) return visit(file_key(file.digest), file.digest.hash, size);
  const auto chunks = manifest.chunks(file);
  for (std::uint64_t i = 0; i < chunks.size(); ++i) {
    visit(chunk_key(chunks[i], chunk_length(size, i)), chunks[i], chunk_length(size, i));
  }
}

// Consumes the text up to the next `end`.
std::string_view take_until(std::string_view& text, char end, const std::function<void()>& fail) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) fail();
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return part;
}

}  // namespace

PieceKey chunk_key(const Sha256& hash, std::uint64_t length) { return key_of('c', length, hash); }
PieceKey file_key(const Digest& file) { return key_of('f', file.size_bytes, file.hash); }

bool WantList::wants(const PieceKey& piece) const {
  return std::ranges::binary_search(pieces, piece) == (kind == Kind::missing);
}

std::string encode_want_list(const WantList& list) {
  std::string out = fmt::format("{}{} {}\n", want_magic, list.kind == WantList::Kind::missing ? "missing" : "have",
                                list.pieces.size());
  for (const auto& asset : list.assets) {
    out += fmt::format("{} {}\n", asset.root == Sha256{} ? "-" : asset.root.hex(), asset.name);
  }
  out += '\n';
  for (const auto& piece : list.pieces) out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return out;
}

WantList parse_want_list(std::string_view bytes, const std::string& name) {
  const std::function<void()> fail = [&] {
    throw Error(FailureKind::invalid, fmt::format("{} is not a want-list of version 1", name),
                fmt::format("`{} NAME {} FILE` makes one, on the machine where something is missing", verb_text("want"),
                            option_text("output")));
  };
  if (!bytes.starts_with(want_magic)) fail();
  bytes.remove_prefix(want_magic.size());
  WantList list;
  const std::string_view kind = take_until(bytes, ' ', fail);
  if (kind != "missing" && kind != "have") fail();
  list.kind = kind == "missing" ? WantList::Kind::missing : WantList::Kind::have;
  const std::string_view number = take_until(bytes, '\n', fail);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc() || end != number.data() + number.size()) fail();
  while (bytes.empty() || bytes.front() != '\n') {
    std::string_view line = take_until(bytes, '\n', fail);
    const std::string_view root = take_until(line, ' ', fail);
    const auto hash = root == "-" ? Sha256{} : Sha256::try_parse(root);
    const bool plain =
        !line.empty() && line.size() <= want_name_size_max && printable(line, want_name_size_max) == line;
    if (!hash || !plain || list.assets.size() == bundle_assets_max) fail();
    list.assets.push_back({std::string(line), *hash});
  }
  bytes.remove_prefix(1);
  if (count > want_list_size_max / sizeof(PieceKey) || bytes.size() != count * sizeof(PieceKey)) fail();
  list.pieces.resize(count);
  if (count > 0) std::memcpy(list.pieces.data(), bytes.data(), bytes.size());
  if (!std::ranges::is_sorted(list.pieces, std::ranges::less_equal{})) fail();
  return list;
}

std::vector<PieceKey> pieces_of(Store& store) {
  std::vector<PieceKey> pieces;
  std::unordered_set<Digest> seen;
  for_each_fanned(Layout(store.directory()).manifests(),
                  [&](const std::string& fan, const std::string& rest, const std::filesystem::path&) {
                    const auto root = try_parse_hash_name(fan, rest, "");
                    const auto manifest = root ? store.manifest(*root) : std::nullopt;
                    if (!manifest) return;
                    manifest->for_each([&](const Entry& entry) {
                      if (!entry.is_file() || !seen.insert(entry.digest).second) return;
                      if (!store.present(entry.digest)) return;
                      for_each_piece(*manifest, entry,
                                     [&](const PieceKey& key, const Sha256&, std::uint64_t) { pieces.push_back(key); });
                    });
                  });
  sort_once(pieces);
  return pieces;
}

WantList make_want_list(Store& store, std::vector<WantedAsset> assets) {
  WantList list{WantList::Kind::missing, std::move(assets), {}};
  ChunkIndex index(store);
  index.build("");
  for (const auto& asset : list.assets) {
    const auto manifest = asset.root == Sha256{} ? std::nullopt : store.manifest(asset.root);
    if (!manifest) return {WantList::Kind::have, std::move(list.assets), pieces_of(store)};
    manifest->for_each([&](const Entry& entry) {
      if (!entry.is_file() || store.present(entry.digest)) return;
      for_each_piece(*manifest, entry, [&](const PieceKey& key, const Sha256& hash, std::uint64_t length) {
        if (index.find(hash, length).empty()) list.pieces.push_back(key);
      });
    });
  }
  sort_once(list.pieces);
  return list;
}

}  // namespace sabath
