#include "conda/conda_unpacking.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

// A source that only goes on, read at offsets: one that goes back begins it again.
class Rereading {
 public:
  explicit Rereading(const std::function<std::unique_ptr<ByteSource>()>& open) : open_(open) {}
  std::size_t read(std::uint64_t offset, std::span<std::byte> into) {
    if (!source_ || offset < at_) {
      source_ = open_();
      at_ = 0;
    }
    if (offset > at_) at_ += source_->skip(offset - at_);
    if (offset != at_ || into.empty()) return 0;
    const std::size_t got = source_->read(std::span(reinterpret_cast<char*>(into.data()), into.size()));
    at_ += got;
    return got;
  }

 private:
  const std::function<std::unique_ptr<ByteSource>()>& open_;
  std::unique_ptr<ByteSource> source_;
  std::uint64_t at_ = 0;
};

}  // namespace

CondaUnpacking::CondaUnpacking(Order order, const std::stop_token& stop)
    : order_(std::move(order)), stop_(stop), names_(order_.label, false) {
  make_directories(order_.to, 0700);
}

void CondaUnpacking::take(Packing packing, const std::function<std::unique_ptr<ByteSource>()>& open,
                          const std::string& name) {
  const std::string shown = fmt::format("{}: {}", order_.label, printable(name));
  std::string begin(packing_look_bytes, '\0');
  begin.resize(read_full(*open(), begin));
  if (packing_of(begin) != packing)
    throw Error(FailureKind::invalid, fmt::format("{} is packed in another way than its name says", shown),
                "take another build of the package, and tell its channel");
  Rereading source(open);
  visit_archive(
      shown, [&](std::uint64_t offset, std::span<std::byte> into) { return source.read(offset, into); }, *this);
}

void CondaUnpacking::begin(const ArchiveItem& item) {
  if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
  if (++entries_ > conda_paths_max) names_.refuse(fmt::format("has more than {} entries", conda_paths_max));
  const auto path = names_.path(item.name);
  if (!path) {
    if (item.kind == ArchiveItem::Kind::folder) return;
    names_.refuse("has an entry without a name");
  }
  const auto add = [&](EntryType type) { static_cast<void>(names_.add(*path, type, items_.size())); };
  switch (item.kind) {
    case ArchiveItem::Kind::folder:
      add(EntryType::directory);
      return;
    case ArchiveItem::Kind::symlink:
      names_.check_symlink(*path, item.target);
      add(EntryType::symlink);
      items_[path->text()] = {true, false, "", item.target, 0};
      return;
    case ArchiveItem::Kind::hard_link:
      return hard_link(*path, item.target);
    case ArchiveItem::Kind::file:
      add(item.executable ? EntryType::executable : EntryType::file);
      items_[path->text()].executable = item.executable;
      return begin_file(path->text());
    case ArchiveItem::Kind::other:
      names_.refuse(
          fmt::format("holds {}, which is neither a file, a directory nor a symlink", printable(path->text())));
  }
}

void CondaUnpacking::begin_file(const std::string& path) {
  path_ = path;
  const fs::path file = order_.to / path;
  make_directories(file.parent_path(), 0700);
  out_ = Fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out_) throw_errno("create", file, errno);
  hash_ = std::make_unique<StreamHash>("sha256");
}

void CondaUnpacking::count(std::uint64_t bytes) {
  bytes_ += bytes;
  const bool is_bomb = bytes_ > ratio_free_bytes && bytes_ / ratio_max > order_.packed_bytes;
  if (bytes_ > order_.bytes_max || is_bomb) names_.refuse("unpacks to too many bytes: a bomb");
}

void CondaUnpacking::write(std::span<const std::byte> bytes) {
  if (stop_.stop_requested()) throw Error(FailureKind::interrupted, "packing was stopped");
  count(bytes.size());
  hash_->update(bytes);
  write_all(out_.get(), bytes, order_.to / path_);
  items_[path_].bytes += bytes.size();
}

void CondaUnpacking::end() {
  CondaItem& item = items_[path_];
  item.sha256 = hash_->finish_hex();
  if (::fchmod(out_.get(), item.executable ? 0755 : 0644) != 0) throw_errno("chmod", order_.to / path_, errno);
  out_.reset();
}

// Another name of a file or symlink before it: a copy, as each file is moved to a place of its own later.
void CondaUnpacking::hard_link(const RelativePath& path, const std::string& target) {
  if (!names_.linked(path, target)) return;  // names itself
  const std::string before = archive_path(target)->text();
  const CondaItem item = items_.at(before);
  if (item.is_symlink) names_.check_symlink(path, item.target);
  static_cast<void>(names_.add(path, item.is_symlink ? EntryType::symlink : EntryType::file, items_.size()));
  items_[path.text()] = item;
  if (item.is_symlink) return;
  count(item.bytes);
  make_directories((order_.to / path.text()).parent_path(), 0700);
  std::error_code error;
  if (!fs::copy_file(order_.to / before, order_.to / path.text(), error) || error)
    throw_errno("copy", order_.to / path.text(), error ? error.value() : EEXIST);
}

}  // namespace sabath
