#include "store/objects/object_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "sabath/error.h"

namespace sabath {

ObjectWriter::ObjectWriter(Temporaries& temporaries, std::shared_ptr<SyncGroup> group,
                           std::optional<std::uint64_t> small_max)
    : temporaries_(temporaries), group_(std::move(group)), small_max_(small_max) {
  if (!small_max_) make_file();
}

ObjectWriter::ObjectWriter(Temporaries& temporaries, std::shared_ptr<SyncGroup> group,
                           std::unique_ptr<ObjectPlace> place)
    : temporaries_(temporaries), place_(std::move(place)), group_(std::move(group)) {
  temporary_ = place_->name();
  fd_ = place_->create();
  has_file_ = true;
}

ObjectWriter::~ObjectWriter() {
  if (has_file_ && !published_) ::unlink(temporary_.c_str());
}

void ObjectWriter::make_file() {
  auto file = temporaries_.new_file();
  temporary_ = std::move(file.path);
  fd_ = std::move(file.fd);
  has_file_ = true;
}

void ObjectWriter::write(std::span<const std::byte> bytes) {
  hasher_.update(bytes);
  if (!has_file_ && hasher_.size_bytes() <= *small_max_) {
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    return;
  }
  if (!has_file_) {
    make_file();
    write_all(fd_.get(), std::exchange(kept_, {}), temporary_);
  }
  write_all(fd_.get(), bytes, temporary_);
}

const FileTree& ObjectWriter::finish() {
  if (finished_) throw Error(FailureKind::internal, "an object was finished twice");
  if (has_file_) settle_file();
  tree_ = hasher_.finish();
  finished_ = true;
  return tree_;
}

void ObjectWriter::write_hashed(std::span<const std::byte> content, const FileTree& tree) {
  if (!has_file_) make_file();
  write_all(fd_.get(), content, temporary_);
  settle_file();
  tree_ = tree;
  finished_ = true;
}

std::optional<std::span<const std::byte>> ObjectWriter::kept() const {
  return has_file_ ? std::nullopt : std::optional(std::span<const std::byte>(kept_));
}

void ObjectWriter::settle_file() {
  if (temporaries_.members().group()) temporaries_.members().seal(fd_.get(), temporary_);
  // Without group sync each lane pays for its own file here, side by side with the other lanes.
  if (!group_->whole()) sync_file(fd_.get(), temporary_);
  if (!group_->whole() || !group_->may_stay_open()) close_file(std::move(fd_), temporary_);
}

void ObjectWriter::become_file() {
  if (has_file_) return;
  make_file();
  write_all(fd_.get(), std::exchange(kept_, {}), temporary_);
  settle_file();
}

std::vector<std::byte> ObjectWriter::content() const {
  if (!has_file_) return kept_;
  std::vector<std::byte> bytes(tree_.digest.size_bytes);
  const Fd file = open_file(temporary_, O_RDONLY);
  if (read_at(file.get(), bytes, 0, temporary_) != bytes.size()) throw_errno("read", temporary_, EIO);
  return bytes;
}

}  // namespace sabath
