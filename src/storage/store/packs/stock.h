// An open store's content, and the hints about it. Owned by the Store. Each member is thread-safe. Throws Error{space},
// Error{storage}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "store/disk/disk.h"
#include "store/hints/arrivals.h"
#include "store/hints/checked.h"
#include "store/hints/evidence.h"
#include "store/objects/objects.h"
#include "store/objects/trash.h"
#include "store/packs/packs.h"

namespace sabath {

struct Stock : Disk {
  explicit Stock(Layout names)
      : Disk(std::move(names)),
        evidence(layout.verified(), writer, owners, layout.members()),
        arrivals(layout.arrivals(), writer, owners, layout.members()),
        trash(layout, evidence, writer),
        objects(layout, evidence, trash, writer),
        packs(layout, evidence, trash, objects, temporaries),
        checked(layout.checked(), writer, owners, layout.members()) {}

  [[nodiscard]] bool present(const Digest& file) {
    if (packs.none_seen() && holds(evidence, layout.object(file), file)) return true;
    return packs.present(file) || objects.present(file);
  }

  Evidence evidence;
  Arrivals arrivals;
  Trash trash;
  Objects objects;
  Packs packs;
  Checked checked;
  std::mutex mutex;                               // of what follows
  std::set<std::filesystem::path> partials_open;  // own directories of partials of unknown content
  std::uint64_t partials_made = 0;
};

}  // namespace sabath
