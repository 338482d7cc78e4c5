#include "store/disk/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "base/file.h"
#include "base/hash.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/recipe.h"
#include "store/disk/facts_names.h"
#include "store/disk/listing.h"

namespace sabath {
namespace {

constexpr std::size_t fan_out_digits = 2;
constexpr std::size_t pin_key_digits = 16;
constexpr std::string_view journal_prefix = "journal.";
constexpr std::string_view scratch_prefix = "scratch.";

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::filesystem::path fanned(const std::filesystem::path& directory, std::string_view hex, std::string_view suffix) {
  // Formatted as one text: each path operator `/` would parse both sides anew.
  return fmt::format("{}/{}/{}{}", directory.native(), hex.substr(0, fan_out_digits), hex.substr(fan_out_digits),
                     suffix);
}

// Decimal as fmt writes it: no sign, no leading zero.
std::optional<std::uint64_t> try_parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return value;
}

}  // namespace

std::optional<Sha256> try_parse_staged_link(const std::filesystem::path& target) {
  if (target.parent_path() != std::filesystem::path(".sabath/views")) return std::nullopt;
  return Sha256::try_parse(target.filename().native());
}

std::span<const Room> rooms_of_store() {
  using enum Room::Holds;
  // No other user can open an unfinished file, and write to it later; git runs what a clone's configuration says.
  static constexpr std::array<Room, 23> rooms{{
      {"objects", content},
      {"packs", content},
      {"manifests", content},
      {"refs", notes, 02755},
      {"indexes", notes, 02755},
      {"alias", notes, 02755},
      {"verified", records, 02755},
      {"arrivals", records, 02755},
      {"checked", records, 02755},
      {"views", other, 0755},
      {"partial", other, 0700},
      {"tmp", other, 0700},
      {"git", other, 0755},
      {"recipes", other, 0755},
      {"by-name", other, 0755},
      {"pins"},
      {"records"},
      {"trash"},
      {"quarantine"},
      {"leases"},
      {"used"},
      {"reservations"},
      {"facts"},
  }};
  return rooms;
}

std::filesystem::path Layout::room(const Room& room) const {
  return root_ / (std::string(room.name) + (room.own_mode != 0 ? room_ : ""));
}

std::string note_name(const Layout& layout, const std::filesystem::path& file) {
  const std::string& top = layout.root().native();
  std::string name = file.native().substr(top.size() + (top.ends_with('/') ? 0 : 1));
  const std::size_t slash = name.find('/'), dot = name.find('.');
  if (dot < slash) name.erase(dot, slash - dot);  // whose room it stands in
  return name;
}

bool is_room_of(const std::filesystem::path& room, uid_t user) {
  const auto s = try_lstat(room);
  return s && S_ISDIR(s->st_mode) && s->st_uid == user && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<uid_t> owner_of_room(const Layout& layout, const std::filesystem::path& path) {
  if (!layout.of_several_users()) return std::nullopt;
  const std::filesystem::path room = *path.lexically_relative(layout.root()).begin();
  const std::string digits = room.extension().native();
  const bool own = std::ranges::any_of(
      rooms_of_store(), [&](const Room& each) { return each.own_mode != 0 && room.stem() == each.name; });
  const auto user = own && digits.size() > 1 ? try_parse_decimal(std::string_view(digits).substr(1)) : std::nullopt;
  return user ? std::optional(static_cast<uid_t>(*user)) : std::nullopt;
}

std::filesystem::path facts_room(const Layout& layout) { return layout.root() / "facts"; }
std::filesystem::path facts_file(const Layout& layout, const Sha256& root) { return facts_room(layout) / root.hex(); }

namespace {

// ROOM.<uid> of others than `own`.
std::vector<std::filesystem::path> rooms_of_others(const Layout& layout, const std::filesystem::path& own) {
  std::vector<std::filesystem::path> rooms;
  const std::string prefix = own.stem().native() + ".";
  for (const auto& path : list_directory(layout.root())) {
    const std::string name = path.filename().native();
    const auto user =
        name.starts_with(prefix) ? try_parse_decimal(std::string_view(name).substr(prefix.size())) : std::nullopt;
    if (user && path != own && is_room_of(path, static_cast<uid_t>(*user))) rooms.push_back(path);
  }
  std::ranges::sort(rooms);
  return rooms;
}

}  // namespace

std::vector<std::filesystem::path> rooms_of_all(const Layout& layout, const std::filesystem::path& own) {
  std::vector<std::filesystem::path> all{own};
  if (layout.of_several_users()) std::ranges::move(rooms_of_others(layout, own), std::back_inserter(all));
  return all;
}

std::vector<std::filesystem::path> note_rooms(const Layout& layout, const std::filesystem::path& own) {
  std::vector<std::filesystem::path> all{own};
  if (layout.of_several_users() && is_real_directory(layout.root() / own.stem()))
    all.push_back(layout.root() / own.stem());
  std::ranges::move(rooms_of_others(layout, own), std::back_inserter(all));  // also where several write unasked
  return all;
}

std::filesystem::path Layout::object(const Digest& file) const {
  const std::string hex = file.hash.hex();
  return fmt::format("{}/objects/{:.{}}/{}.{}", root_.native(), hex, fan_out_digits, hex.substr(fan_out_digits),
                     file.size_bytes);
}

std::filesystem::path Layout::pack(const Digest& name) const {
  return packs() / fmt::format("{}.{}", name.hash.hex(), name.size_bytes);
}

std::filesystem::path Layout::manifest(const Sha256& root) const { return fanned(manifests(), root.hex(), ""); }

std::filesystem::path Layout::ref(const Sha256& source_key) const { return fanned(refs(), source_key.hex(), ".json"); }

std::filesystem::path Layout::index(const Sha256& key) const { return fanned(indexes(), key.hex(), ""); }

std::filesystem::path Layout::alias(std::string_view algorithm, std::string_view hex) const {
  return fanned(aliases() / algorithm, hex, "");
}

std::filesystem::path Layout::partial(const Digest& file) const {
  return partials() / fmt::format("{}.{}", file.hash.hex(), file.size_bytes);
}

std::filesystem::path Layout::partial(const Sha256& source_key) const { return partials() / source_key.hex(); }

std::filesystem::path Layout::pin(const Sha256& root, std::string_view name) const {
  return pins() / fmt::format("{}.{}", root.hex(), sha256(name).hex().substr(0, pin_key_digits));
}

bool is_fan_name(std::string_view directory) { return directory.size() == fan_out_digits && is_hex(directory); }

std::optional<Digest> try_parse_object_name(std::string_view directory, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto hash = try_parse_hash_name(directory, name.substr(0, dot), "");
  const auto size = try_parse_decimal(name.substr(dot + 1));
  if (!hash || !size) return std::nullopt;
  return Digest{ContentKind::file, *size, *hash};
}

std::optional<Digest> try_parse_pack_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot != 2 * Sha256::size || !is_hex(name.substr(0, dot))) return std::nullopt;
  const auto hash = Sha256::try_parse(name.substr(0, dot));
  const auto size = try_parse_decimal(name.substr(dot + 1));
  if (!hash || !size) return std::nullopt;
  return Digest{ContentKind::file, *size, *hash};
}

std::optional<Sha256> try_parse_pin_name(std::string_view name) {
  constexpr std::size_t digits = 2 * Sha256::size;
  const auto root = name.size() < digits ? std::nullopt : Sha256::try_parse(name.substr(0, digits));
  const std::string_view key = name.substr(std::min(digits, name.size()));
  const bool keyed = key.size() == 1 + pin_key_digits && key.front() == '.' && is_hex(key.substr(1));
  return key.empty() || keyed ? root : std::nullopt;
}

std::optional<Sha256> try_parse_hash_name(std::string_view directory, std::string_view name, std::string_view suffix) {
  constexpr std::size_t digits = 2 * Sha256::size - fan_out_digits;
  if (directory.size() != fan_out_digits || name.size() != digits + suffix.size() || !name.ends_with(suffix)) {
    return std::nullopt;
  }
  const std::string hex = fmt::format("{}{}", directory, name.substr(0, digits));
  return is_hex(hex) ? Sha256::try_parse(hex) : std::nullopt;
}

std::optional<RefName> try_parse_ref_name(std::string_view directory, std::string_view name) {
  constexpr std::string_view end = ".json";
  if (const auto key = try_parse_hash_name(directory, name, end)) return RefName{*key, std::nullopt};
  const std::size_t dot = name.find('.');
  if (dot == name.npos || !name.ends_with(end) || name.size() - dot <= end.size()) return std::nullopt;
  const auto key = try_parse_hash_name(directory, name.substr(0, dot), "");
  const auto owner = try_parse_decimal(name.substr(dot + 1, name.size() - dot - 1 - end.size()));
  return key && owner ? std::optional(RefName{*key, *owner}) : std::nullopt;
}

void check_alias_name(std::string_view algorithm, std::string_view hex) {
  const auto published = std::ranges::find(checksum_algorithms, algorithm, &ChecksumAlgorithm::name);
  const bool known = published != checksum_algorithms.end() ? published->finds && published->spells(hex)
                                                            : algorithm == "git" && hex.size() == 40 && is_hex(hex);
  if (!known) {
    throw Error(FailureKind::invalid,
                fmt::format("{}:{} is no checksum that names content", printable(algorithm), printable(hex)),
                "give sha256, sha1, md5 or git, and all its digits in lower case");
  }
}

std::string journal_name(std::string_view writer) { return fmt::format("{}{}", journal_prefix, writer); }

std::string scratch_name(std::string_view writer, unsigned lane) {
  return fmt::format("{}{}.{}", scratch_prefix, writer, lane);
}

std::optional<std::string_view> try_parse_journal_name(std::string_view name) {
  if (!name.starts_with(journal_prefix)) return std::nullopt;
  return name.substr(journal_prefix.size());
}

std::optional<std::string_view> try_parse_scratch_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (!name.starts_with(scratch_prefix) || dot < scratch_prefix.size() || !try_parse_decimal(name.substr(dot + 1))) {
    return std::nullopt;
  }
  return name.substr(scratch_prefix.size(), dot - scratch_prefix.size());
}

}  // namespace sabath
