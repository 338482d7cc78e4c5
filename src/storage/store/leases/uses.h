// The content that this process uses, and marks of when each root was last used. docs/store.md, "Leases". Owned by the
// Store; any thread. Throws nothing but std::bad_alloc, and server_now() Error{space}, Error{storage}.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "store/disk/layout.h"
#include "store/disk/temporaries.h"
#include "store/disk/writer.h"

namespace sabath {

// The open leases of one process: a root that is published or looked at becomes part of each.
class Uses {
 public:
  explicit Uses(const WriterId& writer) : writer_(writer.text()) {}
  [[nodiscard]] std::string new_name();  // of a lease's file
  void enter(const void* lease, std::function<void(const Sha256&, bool mark)> add, bool open);
  void leave(const void* lease);
  void use(const Sha256& root, bool mark);  // mark: it is used as a whole, not only as a part of another
  [[nodiscard]] bool any_open();

 private:
  const std::string writer_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::map<const void*, std::function<void(const Sha256&, bool)>> open_;
};

// used/<root>: its mtime is when the root was used last. Best effort: a mark that cannot be made is no error.
void mark_used(const Layout& layout, const Sha256& root) noexcept;
[[nodiscard]] std::optional<std::int64_t> used_at(const Layout& layout, const Sha256& root);

// The time by the clock of the store's server: the mtime of a file made for the purpose; nanoseconds since 1970.
[[nodiscard]] std::int64_t server_now(Temporaries& temporaries);
[[nodiscard]] std::int64_t server_now_or_ours(Temporaries& temporaries);  // ours, where the store cannot be written

}  // namespace sabath
