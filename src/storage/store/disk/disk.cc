#include "store/disk/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <span>
#include <string>
#include <utility>

#include "base/file.h"
#include "store/disk/clone.h"

namespace sabath {

Disk::Disk(Layout names)
    : layout(std::move(names)),
      writer(WriterId::of_this_process()),
      temporaries(layout, writer),
      partial_names(layout.partials()) {}

std::shared_ptr<SyncGroup> Disk::current_group() {
  const std::lock_guard lock(mutex_);
  if (!group_) group_ = std::make_shared<SyncGroup>(layout.root());
  return group_;
}

void Disk::begin_new_group() {
  const std::lock_guard lock(mutex_);
  group_.reset();
}

bool Disk::reflinks() {
  const std::lock_guard lock(mutex_);
  if (reflinks_) return *reflinks_;
  const auto from = temporaries.new_name(), to = temporaries.new_name();
  {
    const Fd source = open_file(from, O_RDWR | O_CREAT | O_EXCL), target = open_file(to, O_RDWR | O_CREAT | O_EXCL);
    const std::string block(4096, 'x');
    write_all(source.get(), std::as_bytes(std::span(block)), from);
    reflinks_ = try_clone(source.get(), target.get(), to);
  }
  ::unlink(from.c_str());
  ::unlink(to.c_str());
  return *reflinks_;
}

}  // namespace sabath
