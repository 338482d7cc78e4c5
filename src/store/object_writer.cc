#include "store/object_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include "sabath/error.h"
#include "store/durable.h"

namespace sabath {

ObjectWriter::ObjectWriter(std::filesystem::path temporary, std::shared_ptr<SyncGroup> group)
    : temporary_(std::move(temporary)),
      group_(std::move(group)),
      fd_(open_file(temporary_, O_RDWR | O_CREAT | O_EXCL)) {}

ObjectWriter::~ObjectWriter() {
  if (!published_) ::unlink(temporary_.c_str());
}

void ObjectWriter::write(std::span<const std::byte> bytes) {
  write_all(fd_.get(), bytes, temporary_);
  hasher_.update(bytes);
}

const FileTree& ObjectWriter::finish() {
  if (finished_) throw Error(FailureKind::internal, "an object was finished twice");
  seal_file(fd_.get(), temporary_);
  // Without group sync each lane pays for its own file here, side by side with the other lanes.
  if (!group_->whole()) sync_file(fd_.get(), temporary_);
  if (!group_->whole() || !group_->may_stay_open()) close_file(std::move(fd_), temporary_);
  tree_ = hasher_.finish();
  finished_ = true;
  return tree_;
}

}  // namespace sabath
