// Small files that name content: manifests, refs, indexes, aliases. Each is written whole and renamed into place.
#include <fcntl.h>
#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/hash.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "store/disk/note.h"
#include "store/disk/ref_file.h"
#include "store/disk/small_file.h"
#include "store/lookup.h"
#include "store/state.h"

namespace sabath {

namespace {

namespace fs = std::filesystem;

template <class Ask>
auto first_of(const std::vector<std::unique_ptr<Store>>& stores, const Ask& ask) -> decltype(ask(*stores.front())) {
  for (const auto& store : stores) {
    if (auto answer = ask(*store)) return answer;
  }
  return std::nullopt;
}

// Of a trusted user's. This user's of an earlier SABATH is written anew.
std::optional<Ref> try_read_ref(Store::State& store, const fs::path& file) {
  const auto note = try_read_note(store, file);
  auto ref = note ? try_decode_ref(note->body) : std::nullopt;
  if (!ref || !note->earlier) return ref;
  ref->proved = proved_by_name;
  renew_note(store, file, encode_ref(*ref));
  return ref;
}

std::optional<Digest> try_read_alias(Store::State& store, const fs::path& file) {
  const auto note = try_read_note(store, file);
  const auto digest = note ? try_decode_alias(note->body) : std::nullopt;
  if (digest && note->earlier) renew_note(store, file, note->body);
  return digest;
}

bool is_ours(const fs::path& file) {
  const auto there = try_lstat(file);
  return there && there->st_uid == ::geteuid();
}

// A note's files that this user may believe, if their owners are trusted: his own, then those of trusted owners.
template <class FileIn>
std::vector<fs::path> believed_files(const Store::State& store, const FileIn& file_in) {
  std::vector<fs::path> files{file_in(store.layout)};
  if (!store.layout.of_several_users()) return files;
  const fs::path& top = store.layout.root();
  for (const uid_t owner : store.owners.trusted()) {
    const fs::path file = file_in(store.layout.of_user(owner));
    if (owner != ::geteuid() && is_room_of(top / *file.lexically_relative(top).begin(), owner)) files.push_back(file);
  }
  return files;
}

// In a store that several users write, though not made for it, another's ref may have the plain name.
fs::path own_ref(const Layout& layout, const Sha256& source_key) {
  const auto plain = layout.ref(source_key);
  const bool free = layout.of_several_users() || !try_lstat(plain) || is_ours(plain);
  return free ? plain : layout.of_user(::geteuid()).ref(source_key);
}

std::optional<Ref> own_or_trusted_ref(Store::State& store, const Sha256& source_key) {
  const auto own = own_ref(store.layout, source_key), plain = store.layout.ref(source_key);
  if (auto ref = try_read_ref(store, own)) return ref;
  std::optional<Ref> newest = own == plain ? std::nullopt : try_read_ref(store, plain);
  for (const uid_t owner : store.owners.trusted()) {
    const Layout theirs = store.layout.of_user(owner);
    auto ref = owner == ::geteuid() || !is_room_of(theirs.refs(), owner) ? std::nullopt
                                                                         : try_read_ref(store, theirs.ref(source_key));
    if (ref && (!newest || ref->time > newest->time)) newest = std::move(ref);
  }
  return newest;
}

}  // namespace

std::optional<Ref> Store::ref(const Sha256& source_key) const {
  if (auto ref = own_or_trusted_ref(*state_, source_key)) return ref;
  return first_of(state_->others, [&](const Store& other) { return other.ref(source_key); });
}

bool Store::has_ref(const Sha256& source_key) const {
  return try_lstat(own_ref(state_->layout, source_key)) || is_ours(state_->layout.ref(source_key));
}

void Store::put_ref(const Sha256& source_key, const Ref& ref) {
  write_note(*state_, own_ref(state_->layout, source_key), encode_ref(ref), true);
}

std::vector<ForeignRef> Store::foreign_refs(const Sha256& source_key) const {
  std::vector<ForeignRef> refs;
  for (const auto& file : ref_files(state_->layout, source_key)) {
    const auto there = try_lstat(file);
    if (!there || !S_ISREG(there->st_mode) || state_->owners.trusts(*there)) continue;
    const auto ref = try_decode_ref(try_read_any_note(state_->layout, file).value_or(""));
    if (ref) refs.push_back({there->st_uid, *ref});
  }
  return refs;
}

std::optional<std::string> Store::index(const Sha256& key, std::uint64_t size_max) const {
  for (const auto& file : believed_files(*state_, [&](const Layout& layout) { return layout.index(key); })) {
    auto note = try_read_note(*state_, file, size_max);
    if (!note) continue;
    if (note->earlier && is_whole_index(note->body)) renew_note(*state_, file, note->body);
    return std::move(note->body);
  }
  return std::nullopt;
}

void Store::put_index(const Sha256& key, const std::string& bytes) {
  write_note(*state_, state_->layout.index(key), bytes, false);  // a torn one is seen, and is learnt again
}

std::optional<Digest> Store::alias(std::string_view algorithm, const std::string& hex) const {
  check_alias_name(algorithm, hex);
  const auto file_in = [&](const Layout& layout) { return layout.alias(algorithm, hex); };
  for (const auto& file : believed_files(*state_, file_in)) {
    if (const auto digest = try_read_alias(*state_, file)) return digest;
  }
  return first_of(state_->others, [&](const Store& other) { return other.alias(algorithm, hex); });
}

std::optional<Digest> Store::alias_hint(std::string_view algorithm, const std::string& hex) const {
  check_alias_name(algorithm, hex);
  for (const Layout& layout : state_->as_all_see()) {
    const auto note = try_read_any_note(layout, layout.alias(algorithm, hex));
    if (const auto digest = note ? try_decode_alias(*note) : std::nullopt) return digest;
  }
  return first_of(state_->others, [&](const Store& other) { return other.alias_hint(algorithm, hex); });
}

void Store::put_alias(std::string_view algorithm, const std::string& hex, const Digest& digest) {
  check_alias_name(algorithm, hex);
  if (alias(algorithm, hex) == digest) return;
  // No fsync: there may be one for each of many files, and a torn one is seen and costs a fetch at most.
  write_note(*state_, state_->layout.alias(algorithm, hex), encode_alias(digest), false);
}

namespace {

std::optional<Manifest> open_manifest(const std::filesystem::path& file, const Sha256& root) {
  const auto damaged = [&](const std::string& why) {
    return Error(FailureKind::invalid, fmt::format("the manifest {} is damaged: {}", file.native(), why),
                 fmt::format("`{}` puts it aside; then fetch again", verb_text("verify")));
  };
  try {
    auto manifest = Manifest::open(file);
    if (manifest.root() != root) throw damaged("it is another asset's");
    return manifest;
  } catch (const Error& error) {
    if (error.failure().kind == FailureKind::storage && !try_stat(file)) return std::nullopt;  // collected this moment
    if (error.failure().kind != FailureKind::invalid) throw;
    throw damaged(error.what());
  }
}

}  // namespace

std::optional<Manifest> Store::manifest(const Sha256& root) const {
  constexpr int attempts = 3;
  const auto file = state_->layout.manifest(root);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    try {
      auto manifest = try_stat(file) ? open_manifest(file, root) : std::nullopt;
      if (manifest) return manifest;
    } catch (const Error& error) {  // a member may have put another in its place: a fetch gets it again
      const bool wrong = error.failure().kind == FailureKind::invalid && state_->layout.of_several_users();
      if (!wrong || !state_->uses.any_open() || !state_->objects.quarantine(file)) throw;
    }
    // A fetch names it in its lease, now or soon; a collection may have been faster.
    if (!state_->uses.any_open()) break;
    state_->trash.recall(file);
  }
  return manifest_of_another(*state_, root);
}

namespace {

void place_manifest(const Layout& layout, const std::filesystem::path& temporary, const Sha256& root) {
  {
    const Fd fd = open_file(temporary, O_RDONLY);
    layout.members().seal(fd.get(), temporary);
    sync_file(fd.get(), temporary);
  }
  const auto file = layout.manifest(root);
  layout.members().make_directories(file.parent_path());
  rename_path(temporary, file);
  sync_directory(file.parent_path());
  sync_directory(layout.manifests());
}

// What this store's own manifest of the root says of the asset, and would be lost with it; "" if there is none.
std::string standing_note(const Layout& layout, const Sha256& root) {
  try {
    return try_stat(layout.manifest(root)) ? Manifest::open(layout.manifest(root)).note() : "";
  } catch (const Error&) {  // damaged, or collected this moment
    return "";
  }
}

}  // namespace

// A note of the builder is news. Without one the standing note stays.
Sha256 Store::put_manifest(ManifestBuilder& builder) {
  const auto temporary = state_->temporaries.new_name();
  const Sha256 root = builder.write(temporary);
  state_->uses.use(root, false);
  if (std::string note = standing_note(state_->layout, root);
      !note.empty() && Manifest::open(temporary).note().empty()) {
    builder.set_note(std::move(note));
    builder.write(temporary);
  }
  place_manifest(state_->layout, temporary, root);
  return root;
}

Sha256 Store::put_manifest(const std::string& bytes, const Sha256& expected_root) {
  const auto manifest = Manifest::parse(bytes);
  if (manifest.root() != expected_root) {
    throw Error(FailureKind::content,
                fmt::format("the manifest has the root {}, and {} was expected", manifest.root().prefixed(),
                            expected_root.prefixed()),
                "get the manifest of this version, or correct the pin");
  }
  manifest.check();
  // No root covers a note: another's never takes the place of ours.
  const std::string note = standing_note(state_->layout, expected_root);
  if (note.empty() || note == manifest.note()) {
    keep_manifest(*state_, bytes, expected_root);
    return expected_root;
  }
  ManifestBuilder noted;
  noted.add_all(manifest, nullptr);
  noted.set_note(note);
  keep_manifest(*state_, noted.bytes(), expected_root);
  return expected_root;
}

void keep_manifest(Store::State& store, const std::string& bytes, const Sha256& root) {
  store.uses.use(root, false);
  const auto temporary = store.temporaries.new_name();
  Fd fd = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  write_all(fd.get(), std::as_bytes(std::span(bytes)), temporary);
  close_file(std::move(fd), temporary);
  place_manifest(store.layout, temporary, root);
}

std::optional<Arrival> Store::arrival(const Sha256& source_key) const { return state_->arrivals.find(source_key); }

void Store::note_arrival(const Sha256& source_key, const Arrival& arrival) {
  state_->arrivals.add(source_key, arrival);
}

}  // namespace sabath
