// Where an open store writes: its names, who writes, and what is on its way there. Owned by the Store. Members are
// thread-safe each. Throws Error{space}, Error{storage}.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "store/durable.h"
#include "store/landing.h"
#include "store/layout.h"
#include "store/owners.h"
#include "store/partial_names.h"
#include "store/temporaries.h"
#include "store/writer.h"

namespace sabath {

struct Disk {
  explicit Disk(Layout names);

  // The group of the objects that are being written; publish() begins a new one.
  [[nodiscard]] std::shared_ptr<SyncGroup> current_group();
  void begin_new_group();
  [[nodiscard]] bool reflinks();  // this filesystem clones files; tried once

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
