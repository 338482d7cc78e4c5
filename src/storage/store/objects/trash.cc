#include "store/objects/trash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/below.h"
#include "store/disk/durable.h"
#include "store/disk/listing.h"
#include "store/disk/owners.h"
#include "store/leases/lease_file.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
constexpr std::array<const char*, 4> state_names{"filling", "whole", "back", "going"};  // by Batch::State

fs::path state_file(const Batch& batch, Batch::State state) {
  return batch.directory / state_names.at(static_cast<std::size_t>(state));
}

// The file's mtime is the moment of the step; the rename is the step.
bool try_enter(Batch& batch, Batch::State state) {
  const auto before = state_file(batch, batch.state), after = state_file(batch, state);
  ::utimensat(AT_FDCWD, before.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // any member may have made it
  if (::rename(before.c_str(), after.c_str()) != 0) {
    if (errno == ENOENT) return false;
    throw_errno("rename", before, errno);
  }
  if (const auto s = try_lstat(after)) batch.since_ns = nanoseconds(s->st_mtim);
  batch.state = state;
  return true;
}

// Another collection may have removed it.
void sync_if_there(const fs::path& directory) {
  try {
    sync_directory(directory);
  } catch (const Error&) {
    if (try_lstat(directory)) throw;
  }
}

std::optional<Digest> object_at(const fs::path& path) {
  const auto directory = path.parent_path();
  if (directory.filename() == "packs") return try_parse_pack_name(path.filename().native());
  if (directory.parent_path().filename() != "objects") return std::nullopt;
  return try_parse_object_name(directory.filename().native(), path.filename().native());
}

bool is_closed(const fs::path& directory) { return ::access(directory.c_str(), W_OK) != 0 && errno == EACCES; }

// Other processes move the same file away and back: it may be missing in one moment and there in the next.
bool try_move(const Layout& layout, const fs::path& from, const fs::path& to) {
  constexpr int attempts = 5;
  for (int attempt = 1;; ++attempt) {
    if (!try_lstat(to.parent_path())) layout.members().make_directories(to.parent_path());
    try {
      return rename_unless_there_below(layout.root(), from, to);
    } catch (const Error&) {
      if (!try_lstat(from)) return false;                                              // another was faster
      if (is_closed(from.parent_path()) || is_closed(to.parent_path())) return false;  // another member's own room
      if (attempt == attempts) throw;
    }
  }
}

}  // namespace

std::vector<Batch> Trash::batches(std::int64_t now_ns) const {
  std::vector<Batch> found;
  for (const auto& directory : list_directory(layout_.trash())) {
    if (!is_open_directory(directory)) continue;
    const std::string name = directory.filename();
    const auto author = WriterId::try_parse(std::string_view(name).substr(0, name.find('+')));
    Batch batch{directory, Batch::State::filling, now_ns, false};
    for (const auto state : {Batch::State::filling, Batch::State::whole, Batch::State::back, Batch::State::going}) {
      const auto s = try_lstat(state_file(batch, state));
      if (!s) continue;
      batch.state = state;
      batch.since_ns = nanoseconds(s->st_mtim);
    }
    const Life life = author ? life_of(*author, writer_.host) : Life::unknown;
    const bool silent = now_ns - batch.since_ns > std::chrono::nanoseconds(lease_silence_max).count();
    batch.ours_or_dead = (author && *author == writer_) || life == Life::dead || (life == Life::unknown && silent);
    found.push_back(std::move(batch));
  }
  return found;
}

Batch Trash::begin() {
  Batch batch{layout_.trash() / fmt::format("{}+{}", writer_.text(), next_++), Batch::State::filling, 0, true};
  layout_.members().make_directories(batch.directory);
  const auto file = state_file(batch, Batch::State::filling);
  { const Fd made = layout_.members().create(file, O_WRONLY | O_CREAT | O_EXCL, group_file_mode); }
  if (const auto s = try_lstat(file)) batch.since_ns = nanoseconds(s->st_mtim);
  return batch;
}

bool Trash::end(Batch& batch) {
  const auto file = state_file(batch, Batch::State::filling);
  if (!try_lstat(batch.directory)) return false;
  if (batch.state == Batch::State::filling && !try_lstat(file) &&
      !try_lstat(state_file(batch, Batch::State::whole))) {  // its writer died while making it
    const Fd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  }
  return try_enter(batch, Batch::State::whole);
}

bool Trash::begin_deletion(Batch& batch) {
  if (!try_enter(batch, Batch::State::going)) return false;
  sync_if_there(batch.directory);  // else, after a power loss, a part of a batch might be called whole
  return true;
}

void Trash::end_deletion(const Batch& batch) {
  const auto state = state_file(batch, batch.state);
  for (const auto& entry : list_directory(batch.directory)) {
    if (entry != state) remove_tree_below(layout_.root(), entry);
  }
  sync_if_there(batch.directory);  // the state outlives all else
  remove_tree_below(layout_.root(), batch.directory);
}

// Several processes may take one batch back at once, and a later one may go on.
bool Trash::begin_undoing(Batch& batch) {
  return batch.state == Batch::State::back || try_enter(batch, Batch::State::back);
}

bool Trash::move(const fs::path& from, const fs::path& to, const std::optional<Digest>& object) {
  const auto before = object ? try_lstat(from) : std::nullopt;
  const bool known = before && S_ISREG(before->st_mode) && evidence_.matches(*object, *before);
  if (!try_move(layout_, from, to)) return false;
  // A rename changes the ctime and nothing else.
  const auto after = known ? try_lstat(to) : std::nullopt;
  if (after && after->st_ino == before->st_ino && after->st_size == before->st_size &&
      nanoseconds(after->st_mtim) == nanoseconds(before->st_mtim)) {
    evidence_.add(*object, *after);
  }
  return true;
}

bool Trash::discard(const Batch& batch, const fs::path& path) {
  return move(path, batch.directory / path.lexically_relative(layout_.root()), object_at(path));
}

bool Trash::restore(const Batch& batch, const fs::path& in_batch) {
  return bring_back(in_batch, layout_.root() / in_batch.lexically_relative(batch.directory));
}

// Any member may make a batch. Into the room of a user goes back only what is that user's alone, looked at once more
// where no other user can exchange it.
bool Trash::bring_back(const fs::path& from, const fs::path& place) {
  const auto user = owner_of_room(layout_, place);
  if (user && !belongs_to(from, *user)) return false;
  if (!move(from, place, object_at(place))) return false;
  if (!user || belongs_to(place, *user)) return true;
  remove_tree_below(layout_.root(), place);
  return false;
}

void Trash::recall(const fs::path& place) noexcept {
  try {
    const auto relative = place.lexically_relative(layout_.root());
    for (const auto& directory : list_directory(layout_.trash())) {
      if (!is_open_directory(directory) || !try_lstat(directory / relative) || !bring_back(directory / relative, place))
        continue;
      evidence_.flush();
      return;
    }
  } catch (const std::exception&) {  // a store that cannot be written: then it is missing
  }
}

void Trash::for_each(const Batch& batch, const std::function<void(const fs::path&)>& visit) {
  for (const auto& kind : list_directory(batch.directory)) {
    const std::string name = kind.filename();
    if (name.starts_with("views") || name.starts_with("partial") ||
        name.starts_with("git")) {  // of a user, in a shared store
      for (const auto& whole : list_directory(kind)) visit(whole);
      continue;
    }
    for_each_file_below(kind, visit);
  }
}

}  // namespace sabath
