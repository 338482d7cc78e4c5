// An open store's place on disk: names, writer, temporary files and sync groups. Owned by the Store. Each member is
// thread-safe. Throws Error{space}, Error{storage}.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "store/disk/durable.h"
#include "store/disk/landing.h"
#include "store/disk/layout.h"
#include "store/disk/owners.h"
#include "store/disk/partial_names.h"
#include "store/disk/temporaries.h"
#include "store/disk/writer.h"

namespace sabath {

struct Disk {
  explicit Disk(Layout names);

  // The group of the objects that are being written; publish() begins a new one.
  [[nodiscard]] std::shared_ptr<SyncGroup> current_group();
  void begin_new_group();
  [[nodiscard]] bool reflinks();  // whether this filesystem clones files; tried once

  const Layout layout;
  const WriterId writer;
  Landing landing;
  Owners owners;  // set before the store is used: store/lookup.h
  Temporaries temporaries;
  PartialNames partial_names;

 private:
  std::mutex mutex_;  // of what follows
  std::shared_ptr<SyncGroup> group_;
  std::optional<bool> reflinks_;
};

}  // namespace sabath
