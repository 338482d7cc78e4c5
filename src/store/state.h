// What an open store consists of. Private to src/store. Members are thread-safe each.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "store/arrivals.h"
#include "store/checked.h"
#include "store/durable.h"
#include "store/evidence.h"
#include "store/layout.h"
#include "store/objects.h"
#include "store/store.h"
#include "store/temporaries.h"
#include "store/trash.h"
#include "store/uses.h"
#include "store/writer.h"

namespace sabath {

struct Store::State {
  explicit State(const std::filesystem::path& directory)
      : layout(directory),
        writer(WriterId::of_this_process()),
        evidence(layout.verified(), writer),
        arrivals(layout.arrivals(), writer),
        trash(layout, evidence, writer),
        objects(layout, evidence, trash, writer),
        temporaries(layout, writer),
        uses(writer),
        checked(layout.checked(), writer) {}

  // The group of the objects that are being written; publish() begins a new one.
  [[nodiscard]] std::shared_ptr<SyncGroup> current_group();
  void begin_new_group();
  [[nodiscard]] bool reflinks();  // this filesystem clones files; tried once

  const Layout layout;
  const WriterId writer;
  Evidence evidence;
  Arrivals arrivals;
  Trash trash;
  Objects objects;
  Temporaries temporaries;
  Uses uses;
  Checked checked;
  std::mutex mutex;  // of what follows
  std::shared_ptr<SyncGroup> group;
  std::optional<bool> reflinks_known;
  std::set<std::filesystem::path> partials_open;  // own directories of partials of unknown content
  std::uint64_t partials_made = 0;
};

}  // namespace sabath
