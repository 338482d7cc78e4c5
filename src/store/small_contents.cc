#include "store/small_contents.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "sabath/error.h"

namespace sabath {
namespace {
constexpr const char* file_name = "a file of small contents";
}  // namespace

SmallContents::Held::Held(Held&& other) noexcept { *this = std::move(other); }

SmallContents::Held& SmallContents::Held::operator=(Held&& other) noexcept {
  std::swap(all_, other.all_);
  std::swap(bytes_, other.bytes_);
  std::swap(offset_, other.offset_);
  std::swap(size_, other.size_);
  return *this;
}

SmallContents::Held::~Held() {
  if (all_) all_->give_back(*this);
}

std::vector<std::byte> SmallContents::Held::read() const {
  if (!bytes_.empty() || size_ == 0) return bytes_;
  std::vector<std::byte> content(size_);
  if (read_at(all_->fd_.get(), content, offset_, file_name) != content.size())
    throw Error(FailureKind::storage, "what was written a moment ago is shorter now", "run again");
  return content;
}

SmallContents::Held SmallContents::hold(std::vector<std::byte> content) {
  Held held;
  held.size_ = content.size();
  const std::lock_guard lock(mutex_);
  if (in_memory_ + content.size() <= memory_max) {
    in_memory_ += content.size();
    held.bytes_ = std::move(content);
  } else {
    if (!fd_) {
      const auto name = temporaries_.new_name();
      fd_ = open_file(name, O_RDWR | O_CREAT | O_EXCL);
      ::unlink(name.c_str());
    }
    write_all_at(fd_.get(), content, end_, file_name);
    held.offset_ = end_;
    end_ += content.size();
    in_file_ += content.size();
  }
  held.all_ = shared_from_this();
  return held;
}

void SmallContents::give_back(const Held& held) noexcept {
  const std::lock_guard lock(mutex_);
  if (!held.bytes_.empty()) {
    in_memory_ -= held.size_;
    return;
  }
  in_file_ -= held.size_;
  if (in_file_ > 0 || !fd_) return;
  end_ = 0;
  fd_.reset();
}

}  // namespace sabath
