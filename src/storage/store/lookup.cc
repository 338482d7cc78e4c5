#include "store/lookup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "sabath/error.h"
#include "store/disk/clone.h"
#include "store/disk/small_file.h"
#include "store/pack_stream.h"
#include "store/shared.h"
#include "store/state.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t manifest_size_max = std::uint64_t{4} << 30;

bool may_write(const fs::path& path) { return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0; }

bool writable(const fs::path& store) {
  for (fs::path place = store;; place = place.parent_path()) {
    const auto there = try_stat(place);
    if (!there && place.has_relative_path()) continue;
    return there && S_ISDIR(there->st_mode) && may_write(place) &&
           (place != store || !try_stat(place / "objects") || may_write(place / "objects"));
  }
}

// A file in another store under the name of this content.
struct Standing {
  fs::path path;
  struct stat name, file;  // of the name itself, and of the file that it leads to
};

std::optional<Standing> try_find(const Store::State& other, const Digest& digest) {
  Standing found{other.layout.object(digest), {}, {}};
  const auto name = try_lstat(found.path), file = try_stat(found.path);
  if (!name || !file || !S_ISREG(file->st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(file->st_size) != digest.size_bytes) return std::nullopt;
  found.name = *name;
  found.file = *file;
  return found;
}

class Temporary {
 public:
  explicit Temporary(Store::State& store)
      : path_(store.temporaries.new_name()), fd_(open_file(path_, O_RDWR | O_CREAT | O_EXCL)) {}
  ~Temporary() { ::unlink(path_.c_str()); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  Fd fd_;
};

// Any user's file: hashes the copy, which no other user can write to.
bool copy_checked(Store::State& store, const Standing& from, const Digest& digest) {
  const Fd source = open_file(from.path, O_RDONLY | O_NONBLOCK);
  const Temporary copy(store);
  const bool cloned = store.reflinks() && try_clone(source.get(), copy.fd(), copy.path());
  const Digest found = cloned ? hash_file(copy.fd(), digest.size_bytes, copy.path()).digest
                              : copy_hashed(source.get(), from.path, copy.fd(), copy.path()).digest;
  struct stat s {};
  if (found != digest || ::fstat(copy.fd(), &s) != 0 || static_cast<std::uint64_t>(s.st_size) != digest.size_bytes) {
    return false;
  }
  store.objects.publish_data(copy.fd(), copy.path(), digest);
  return true;
}

// For a trusted file: its clone is right, if the file did not change meanwhile.
bool try_take_clone(Store::State& store, Store::State& other, const Standing& from, const Digest& digest) {
  if (!store.reflinks()) return false;
  const Fd source = open_file(from.path, O_RDONLY | O_NONBLOCK);
  const Temporary clone(store);
  if (!try_clone(source.get(), clone.fd(), clone.path())) return false;
  struct stat after {};
  if (::fstat(source.get(), &after) != 0 || !other.evidence.matches(digest, after)) return false;
  store.objects.publish_data(clone.fd(), clone.path(), digest);
  return true;
}

using Link = std::function<int(const fs::path& to)>;  // as link(2)

// False: a link of this kind cannot be made.
bool try_take_link(Store::State& store, const Digest& digest, const Link& link) {
  bool refused = false;
  Objects::Directories touched;
  static_cast<void>(store.objects.place(digest, touched, [&](const fs::path& to) {
    if (link(to) == 0) {
      store.objects.attest(digest, to);
      return Move::done;
    }
    if (errno == EEXIST) return Move::occupied;
    refused = true;
    return Move::vanished;
  }));
  if (refused) return false;
  for (const auto& directory : touched) sync_directory(directory);
  store.evidence.flush();
  return true;
}

bool take_trusted(Store::State& store, Store::State& other, const Standing& from, const Digest& digest) {
  if (try_take_clone(store, other, from, digest)) return true;
  // Hard-link only our own file: a link changes the ctime, and another user would have to make his evidence anew.
  const bool ours = S_ISREG(from.name.st_mode) && from.name.st_uid == ::geteuid();
  if (ours && try_take_link(store, digest, [&](const fs::path& to) { return ::link(from.path.c_str(), to.c_str()); })) {
    if (const auto now = try_stat(from.path)) other.evidence.add(digest, *now);
    other.evidence.flush();
    return true;
  }
  std::array<char, PATH_MAX> target{};
  const bool symlink = S_ISLNK(from.name.st_mode);
  // Any member of that store may replace the name of an object.
  if (!symlink && other.layout.of_several_users()) return copy_checked(store, from, digest);
  if (symlink && ::readlink(from.path.c_str(), target.data(), target.size() - 1) < 0) return false;
  const std::string to = symlink ? target.data() : from.path.native();
  return try_take_link(store, digest, [&](const fs::path& name) { return ::symlink(to.c_str(), name.c_str()); });
}

bool bring_from(Store::State& store, Store::State& other, const Digest& digest) {
  try {
    const auto found = try_find(other, digest);
    if (!found || !admits(store.layout, found->path)) return false;
    if (!store.owners.trusts(found->name)) return copy_checked(store, *found, digest);
    return holds(other.evidence, found->path, digest) && take_trusted(store, other, *found, digest);
  } catch (const Error& error) {  // not readable for us, damaged, or collected this moment
    const FailureKind kind = error.failure().kind;
    if (kind != FailureKind::storage && kind != FailureKind::changed) throw;
    return false;
  }
}

// nullopt: no other store has it in a pack.
std::optional<std::vector<std::byte>> read_packed(Store& store, const Digest& digest) {
  for (const auto& other : store.state().others) {
    if (!admits(store.state().layout, other->state().layout.packs())) continue;
    auto bytes = other->state().packs.read(digest);
    if (bytes && is_content(*bytes, digest)) return bytes;
  }
  return std::nullopt;
}

}  // namespace

std::size_t first_writable(const std::vector<fs::path>& stores) {
  const auto found = std::ranges::find_if(stores, writable);
  return found == stores.end() ? 0 : static_cast<std::size_t>(found - stores.begin());
}

std::vector<fs::path> look_also(Store& store, const Lookup& lookup) {
  std::vector<fs::path> passed;
  store.state().owners.trust(lookup.trusted);
  for (const auto& directory : lookup.others) {
    try {
      auto other = Store::open(directory, false);
      other->state().owners.trust(lookup.trusted);
      store.state().others.push_back(std::move(other));
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::not_found) passed.push_back(directory);
    }
  }
  return passed;
}

Store& look_also(Store& store, std::unique_ptr<Store> other) {
  return *store.state().others.emplace_back(std::move(other));
}

bool bring(Store::State& store, const Digest& file) {
  return std::ranges::any_of(store.others, [&](auto& other) { return bring_from(store, other->state(), file); });
}

void bring_all(Store& store, const Manifest& manifest) {
  constexpr std::size_t group_max = 512;
  if (store.state().others.empty()) return;
  const bool packs = store.packs(manifest.totals().files);
  PackStream stream(store);
  std::vector<std::unique_ptr<ObjectWriter>> group;
  manifest.for_each([&](const Entry& entry) {
    if (!entry.is_file() || store.present(entry.digest)) return;
    const auto content = read_packed(store, entry.digest);  // it is small, and always copied
    if (!content) return;
    if (packs) {
      if (stream.add(entry.digest, *content)) stream.publish_full();
      return;
    }
    auto writer = store.write_object();
    writer->write(*content);
    writer->finish();
    group.push_back(std::move(writer));
    if (group.size() >= group_max) store.publish(std::exchange(group, {}));
  });
  if (!group.empty()) store.publish(std::move(group));
  stream.publish_all();
}

std::optional<Manifest> manifest_of_another(Store::State& store, const Sha256& root) {
  for (const auto& other : store.others) {
    try {
      auto bytes = try_read_text(other->state().layout.manifest(root), manifest_size_max);
      if (!bytes) continue;
      auto manifest = Manifest::parse(*bytes);
      if (manifest.root() != root) continue;
      manifest.check();
      if (store.uses.any_open() && may_write(store.layout.root())) keep_manifest(store, *bytes, root);
      return manifest;
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::storage && error.failure().kind != FailureKind::invalid) throw;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> view_of_another(Store& store, const Manifest& manifest) {
  for (const auto& other : store.state().others) {
    try {
      const auto view = other->view_path(manifest.root());
      const auto top = try_lstat(view);
      const bool safe = top && S_ISDIR(top->st_mode) && store.state().owners.trusts(*top) && (top->st_mode & 0022) == 0;
      if (safe && other->view_present(manifest)) return view;
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::storage) throw;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> standing_view(Store& store, const Sha256& root) {
  if (const auto view = store.view_path(root); try_lstat(view)) return view;
  for (const auto& other : store.state().others) {
    if (const auto view = other->view_path(root); try_lstat(view)) return view;
  }
  return std::nullopt;
}

}  // namespace sabath
