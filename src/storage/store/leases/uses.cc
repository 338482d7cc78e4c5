#include "store/leases/uses.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "sabath/error.h"
#include "store/disk/owners.h"
#include "store/leases/lease_file.h"

namespace sabath {

std::string Uses::new_name() { return fmt::format("{}+{}", writer_, next_++); }

void Uses::enter(const void* lease, std::function<void(const Sha256&, bool)> add, bool open) {
  const std::lock_guard lock(mutex_);
  if (open) open_.emplace(lease, std::move(add));
}

void Uses::leave(const void* lease) {
  const std::lock_guard lock(mutex_);
  open_.erase(lease);
}

void Uses::use(const Sha256& root, bool mark) {
  const std::lock_guard lock(mutex_);
  for (const auto& [lease, add] : open_) add(root, mark);
}

bool Uses::any_open() {
  const std::lock_guard lock(mutex_);
  return !open_.empty();
}

void mark_used(const Layout& layout, const Sha256& root) noexcept {
  try {
    if (::utimensat(AT_FDCWD, layout.used(root).c_str(), nullptr, 0) == 0 || errno != ENOENT) return;
    layout.members().make_directories(layout.used());
    const Fd made = layout.members().create(layout.used(root), O_WRONLY | O_CREAT, group_file_mode);
  } catch (const std::exception&) {  // a store that cannot be written is not collected from here either
  }
}

std::optional<std::int64_t> used_at(const Layout& layout, const Sha256& root) {
  const auto mark = try_lstat(layout.used(root));
  return mark ? std::optional(touched_ns(*mark)) : std::nullopt;
}

std::int64_t server_now(Temporaries& temporaries) {
  const auto file = temporaries.new_name();
  const Fd fd = open_file(file, O_WRONLY | O_CREAT | O_EXCL);
  struct stat s {};
  const bool known = ::fstat(fd.get(), &s) == 0;
  ::unlink(file.c_str());
  if (!known) throw_errno("stat", file, errno);
  return nanoseconds(s.st_mtim);
}

std::int64_t server_now_or_ours(Temporaries& temporaries) {
  try {
    return server_now(temporaries);
  } catch (const Error&) {
    return unix_time();
  }
}

}  // namespace sabath
