// Makes and parses every name on disk. docs/store.md, "Layout". Pure but for rooms_of_all(); any thread.
//
// Parsing is strict: it refuses a name that this version would not make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sabath/digest.h"
#include "store/disk/members.h"

namespace sabath {

// A directory of a store's top, by its name in a store of one user.
struct Room {
  enum class Holds { content, notes, records, other };  // notes: store/disk/note.h; records: logs of writers
  std::string_view name;
  Holds holds = Holds::other;
  // In a store of several users each has his own, ROOM.<uid>, of this mode; 0: one is for all.
  std::uint16_t own_mode = 0;
};
// All that may stand in a store besides `format`.
[[nodiscard]] std::span<const Room> rooms_of_store();

class Layout {
 public:
  // `user`: in a store of several users, each has own directories for what only its owner may change.
  explicit Layout(std::filesystem::path root, std::optional<unsigned> user = std::nullopt, Members members = {})
      : root_(std::move(root)), room_(user ? "." + std::to_string(*user) : ""), members_(std::move(members)) {}
  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }
  [[nodiscard]] const Members& members() const noexcept {
    return members_;
  }  // who may read the files made under these names

  // The same store as this user sees it.
  [[nodiscard]] Layout of_user(unsigned user) const { return Layout(root_, user, members_); }
  // In a store of several users a room that each has for himself is this user's.
  [[nodiscard]] std::filesystem::path room(const Room& room) const;

  [[nodiscard]] std::filesystem::path format_file() const { return root_ / "format"; }
  [[nodiscard]] std::filesystem::path objects() const { return root_ / "objects"; }
  [[nodiscard]] std::filesystem::path object(const Digest& file) const;  // objects/ab/<62 hex>.<size>
  [[nodiscard]] std::filesystem::path packs() const { return root_ / "packs"; }
  [[nodiscard]] std::filesystem::path pack(const Digest& name) const;  // packs/<64 hex>.<size>
  [[nodiscard]] std::filesystem::path manifests() const { return root_ / "manifests"; }
  [[nodiscard]] std::filesystem::path manifest(const Sha256& root) const;  // manifests/ab/<62 hex>
  [[nodiscard]] std::filesystem::path refs() const { return root_ / ("refs" + room_); }
  [[nodiscard]] std::filesystem::path ref(const Sha256& source_key) const;  // refs/ab/<62 hex>.json
  [[nodiscard]] bool of_several_users() const noexcept { return !room_.empty(); }
  [[nodiscard]] std::filesystem::path indexes() const { return root_ / ("indexes" + room_); }
  [[nodiscard]] std::filesystem::path index(const Sha256& key) const;  // indexes/ab/<62 hex>
  [[nodiscard]] std::filesystem::path aliases() const { return root_ / ("alias" + room_); }
  [[nodiscard]] std::filesystem::path alias(std::string_view algorithm, std::string_view hex) const;
  [[nodiscard]] std::filesystem::path partials() const { return root_ / ("partial" + room_); }
  [[nodiscard]] std::filesystem::path partial(const Digest& file) const;        // partial/<64 hex>.<size>
  [[nodiscard]] std::filesystem::path partial(const Sha256& source_key) const;  // partial/<64 hex>
  [[nodiscard]] std::filesystem::path views() const { return root_ / ("views" + room_); }
  [[nodiscard]] std::filesystem::path view(const Sha256& root) const { return views() / root.hex(); }
  [[nodiscard]] std::filesystem::path verified() const { return root_ / ("verified" + room_); }
  [[nodiscard]] std::filesystem::path arrivals() const { return root_ / ("arrivals" + room_); }
  [[nodiscard]] std::filesystem::path records() const { return root_ / "records"; }
  [[nodiscard]] std::filesystem::path clones() const { return root_ / ("git" + room_); }  // bare; git trusts them
  [[nodiscard]] std::filesystem::path git(const Sha256& source_key) const { return clones() / source_key.hex(); }
  [[nodiscard]] std::filesystem::path temporaries() const { return root_ / ("tmp" + room_); }
  [[nodiscard]] std::filesystem::path quarantine() const { return root_ / "quarantine"; }
  [[nodiscard]] std::filesystem::path trash() const { return root_ / "trash"; }
  [[nodiscard]] std::filesystem::path leases() const { return root_ / "leases"; }
  [[nodiscard]] std::filesystem::path reservations() const { return root_ / "reservations"; }
  [[nodiscard]] std::filesystem::path pins() const { return root_ / "pins"; }
  // pins/<64 hex>.<16 hex>: each name that pins a root has its own file, so that no pin is written over another.
  [[nodiscard]] std::filesystem::path pin(const Sha256& root, std::string_view name) const;
  [[nodiscard]] std::filesystem::path used() const { return root_ / "used"; }
  [[nodiscard]] std::filesystem::path used(const Sha256& root) const { return used() / root.hex(); }
  [[nodiscard]] std::filesystem::path recipes() const { return root_ / ("recipes" + room_); }  // registered names
  [[nodiscard]] std::filesystem::path names() const { return root_ / ("by-name" + room_); }    // links for people
  [[nodiscard]] std::filesystem::path checked() const { return root_ / ("checked" + room_); }

 private:
  std::filesystem::path root_;
  std::string room_;
  Members members_;
};

// The name that a note holds inside: that of its file below the store, without the owner of its room.
[[nodiscard]] std::string note_name(const Layout& layout, const std::filesystem::path& file);

// Whether what stands there is a directory of this user's that no other user may write: any member may make anything of
// this name before its user does.
[[nodiscard]] bool is_room_of(const std::filesystem::path& room, uid_t user);

// The user whose own room a path of a store of several users is in; nullopt: it is in none.
[[nodiscard]] std::optional<uid_t> owner_of_room(const Layout& layout, const std::filesystem::path& path);

// A room of this user, such as views(), and the same of all other users.
[[nodiscard]] std::vector<std::filesystem::path> rooms_of_all(const Layout& layout, const std::filesystem::path& own);
// The same of notes and records, with what an earlier SABATH, which had one room for all users, left.
[[nodiscard]] std::vector<std::filesystem::path> note_rooms(const Layout& layout, const std::filesystem::path& own);

// Whether a directory below objects/, manifests/ or refs/ has a name that is made here: two digits.
[[nodiscard]] bool is_fan_name(std::string_view directory);
// `directory` and `name`: the last two components of a path below objects/, or below manifests/ and refs/.
[[nodiscard]] std::optional<Digest> try_parse_object_name(std::string_view directory, std::string_view name);
[[nodiscard]] std::optional<Digest> try_parse_pack_name(std::string_view name);
[[nodiscard]] std::optional<Sha256> try_parse_pin_name(
    std::string_view name);  // also an earlier SABATH's, pins/<64 hex>
[[nodiscard]] std::optional<Sha256> try_parse_hash_name(std::string_view directory, std::string_view name,
                                                        std::string_view suffix);

struct RefName {
  Sha256 source_key;
  std::optional<std::uint64_t> owner;  // as an earlier SABATH named it in a store of several users
};
[[nodiscard]] std::optional<RefName> try_parse_ref_name(std::string_view directory, std::string_view name);

// The manifest whose view a symlink beside a node's store DIR/.sabath leads to, if `stage` made the link.
[[nodiscard]] std::optional<Sha256> try_parse_staged_link(const std::filesystem::path& target);

// Checks an alias's name: a known algorithm, and as many lower-case digits as it has. Throws Error{invalid}.
void check_alias_name(std::string_view algorithm, std::string_view hex);

// The files of a partial. `writer` is a WriterId's text.
[[nodiscard]] std::string journal_name(std::string_view writer);                              // journal.<writer>
[[nodiscard]] std::string scratch_name(std::string_view writer, unsigned lane);               // scratch.<writer>.<lane>
[[nodiscard]] std::optional<std::string_view> try_parse_journal_name(std::string_view name);  // the writer
[[nodiscard]] std::optional<std::string_view> try_parse_scratch_name(std::string_view name);  // the writer
inline constexpr std::string_view partial_data_name = "data";
inline constexpr std::string_view partial_source_name = "source.json";
inline constexpr std::string_view log_suffix = ".log";  // of evidence and arrivals

}  // namespace sabath
