// A file of the user becomes an object. It must not change while it is read, or the hash is that of no content.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/disk/clone.h"
#include "store/shared.h"
#include "store/state.h"

namespace sabath {
namespace {

using Tee = std::function<void(std::span<const std::byte>)>;

// The user's file, and its stat when it was opened.
class Original {
 public:
  explicit Original(const std::filesystem::path& file)
      : path_(std::filesystem::absolute(file)), fd_(open_file(path_, O_RDONLY | O_NONBLOCK)), before_(stat_now()) {
    if (S_ISREG(before_.st_mode)) return;
    throw Error(FailureKind::usage, fmt::format("{} is not a regular file", printable(path_.native())),
                "give a file; of a directory, each file");
  }
  void check_unchanged(std::uint64_t bytes_read) const {
    const struct stat now = stat_now();
    if (Fact::of({}, now) == Fact::of({}, before_) && now.st_size == before_.st_size &&
        bytes_read == static_cast<std::uint64_t>(now.st_size)) {
      return;
    }
    throw Error(FailureKind::changed, fmt::format("{} changed while it was read", printable(path_.native())),
                "let its writer finish, then try again");
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const struct stat& before() const { return before_; }

 private:
  [[nodiscard]] struct stat stat_now() const {
    struct stat s {};
    if (::fstat(fd_.get(), &s) != 0) throw_errno("stat", path_, errno);
    return s;
  }
  std::filesystem::path path_;
  Fd fd_;
  struct stat before_;
};

FileTree hash_original(const Original& original, int fd, const Tee& tee) {
  FileHasher hasher;
  const auto bytes = read_through(fd, original.path(), [&](std::span<const std::byte> piece) {
    hasher.update(piece);
    if (tee) tee(piece);
  });
  original.check_unchanged(bytes);
  return hasher.finish();
}

FileTree adopt_by_symlink(Store::State& store, const Original& original, const Tee& tee) {
  const auto tree = hash_original(original, original.fd(), tee);
  Objects::Directories touched;
  const auto placed = store.objects.place(tree.digest, touched, [&](const std::filesystem::path& to) {
    if (::symlink(original.path().c_str(), to.c_str()) == 0) return Move::done;
    if (errno != EEXIST) throw_errno("link as", to, errno);
    return Move::occupied;
  });
  if (placed != Objects::Placed::here) return tree;
  for (const auto& directory : touched) sync_directory(directory);
  store.evidence.add(tree.digest, original.before());
  store.evidence.flush();
  return tree;
}

// nullopt: no clone can be made, for the original is on another filesystem.
std::optional<FileTree> try_adopt_by_clone(Store::State& store, const Original& original, const Tee& tee) {
  if (!store.reflinks()) return std::nullopt;
  struct Temporary {
    std::filesystem::path path;
    ~Temporary() { ::unlink(path.c_str()); }
  } const temporary{store.temporaries.new_name()};
  const Fd clone = open_file(temporary.path, O_RDWR | O_CREAT | O_EXCL);
  if (!try_clone(original.fd(), clone.get(), temporary.path)) return std::nullopt;
  const auto tree = hash_original(original, clone.get(), tee);  // the clone becomes the object
  store.objects.publish_data(clone.get(), temporary.path, tree.digest);
  return tree;
}

}  // namespace

FileTree Store::adopt(const std::filesystem::path& file, bool link, const Tee& tee) {
  const Original original(file);
  if (link && !admits(state_->layout, original.path())) {
    throw Error(FailureKind::access,
                fmt::format("not all who use {} can read {} where it is", printable(directory().native()),
                            printable(original.path().native())),
                option_text("path") + " makes a copy for them");
  }
  if (link) return adopt_by_symlink(*state_, original, tee);
  if (auto tree = try_adopt_by_clone(*state_, original, tee)) return std::move(*tree);
  auto writer = write_object();
  const auto bytes = read_through(original.fd(), original.path(), [&](std::span<const std::byte> piece) {
    writer->write(piece);
    if (tee) tee(piece);
  });
  original.check_unchanged(bytes);
  FileTree tree = writer->finish();
  std::vector<std::unique_ptr<ObjectWriter>> group;
  group.push_back(std::move(writer));
  publish(std::move(group));
  return tree;
}

}  // namespace sabath
