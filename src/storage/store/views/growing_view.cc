#include "store/views/growing_view.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sabath/error.h"
#include "store/state.h"
#include "store/views/view.h"

namespace sabath {

GrowingView::~GrowingView() {
  if (root_) remove_tree(tree_);
}

void GrowingView::begin() {
  if (store_.state().reflinks()) return;
  tree_ = store_.state().temporaries.new_directory();
  root_ = open_file(tree_, O_RDONLY | O_DIRECTORY);
}

std::unique_ptr<ObjectWriter> GrowingView::write_object(const std::string& path) {
  std::call_once(begun_, [this] { begin(); });
  if (!root_) return store_.write_object();
  auto group = store_.state().current_group();  // before the file is made: see SyncGroup
  return std::make_unique<ObjectWriter>(store_.state().temporaries, std::move(group),
                                        std::make_unique<ViewPlace>(*this, path));
}

std::filesystem::path GrowingView::show(const Manifest& manifest) {
  try {
    if (root_ && try_show_grown(store_.state(), manifest, tree_, grown_)) {
      root_.reset();
      return store_.view_path(manifest.root());
    }
  } catch (const Error&) {
    abandon(manifest);
    throw;
  }
  abandon(manifest);
  return store_.make_view(manifest);
}

void GrowingView::abandon(const Manifest& manifest) noexcept {
  if (root_) unmake(store_.state(), manifest, tree_);
  root_.reset();
}

Fd ViewPlace::create() const {
  constexpr mode_t read_only = 0444;
  const auto open = [this] {
    return Fd(
        ::openat(view_.root_.get(), path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, read_only));
  };
  Fd fd = open();
  if (!fd && errno == ENOENT) {
    make_directories(name().parent_path());
    fd = open();
  }
  if (!fd) throw_errno("create", name(), errno);
  return fd;
}

Move ViewPlace::link_as(const std::filesystem::path& object, const Digest& digest) const {
  if (::linkat(view_.root_.get(), path_.c_str(), AT_FDCWD, object.c_str(), 0) == 0) {
    view_.grown_.add(path_, digest);
    return Move::done;
  }
  if (errno == EEXIST) return Move::occupied;
  if (!has_no_such_link(errno)) throw_errno("publish as", object, errno);
  return rename_unless_there(name(), object) ? Move::done : Move::occupied;  // no links here: it leaves the tree
}

std::optional<struct stat> ViewPlace::now() const {
  struct stat s {};
  if (::fstatat(view_.root_.get(), path_.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return s;
}

}  // namespace sabath
