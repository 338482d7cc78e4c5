// What an open store consists of. Private to src/store. Members are thread-safe each.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/arrivals.h"
#include "store/checked.h"
#include "store/durable.h"
#include "store/evidence.h"
#include "store/landing.h"
#include "store/layout.h"
#include "store/objects.h"
#include "store/owners.h"
#include "store/packs.h"
#include "store/partial_names.h"
#include "store/shared.h"
#include "store/store.h"
#include "store/temporaries.h"
#include "store/trash.h"
#include "store/uses.h"
#include "store/writer.h"

namespace sabath {

struct Store::State {
  explicit State(const std::filesystem::path& directory)
      : layout(layout_for_user(directory)),
        writer(WriterId::of_this_process()),
        evidence(layout.verified(), writer, owners, layout.members()),
        arrivals(layout.arrivals(), writer, owners, layout.members()),
        trash(layout, evidence, writer),
        objects(layout, evidence, trash, writer),
        temporaries(layout, writer),
        packs(layout, evidence, trash, objects, temporaries),
        partial_names(layout.partials()),
        uses(writer),
        checked(layout.checked(), writer, owners, layout.members()) {}

  // The group of the objects that are being written; publish() begins a new one.
  [[nodiscard]] std::shared_ptr<SyncGroup> current_group();
  void begin_new_group();
  [[nodiscard]] bool present(const Digest& file) {
    if (packs.none_seen() && holds(evidence, layout.object(file), file)) return true;
    return packs.present(file) || objects.present(file);
  }
  [[nodiscard]] bool reflinks();  // this filesystem clones files; tried once

  const Layout layout;
  const WriterId writer;
  Landing landing;
  Owners owners;                               // set before the store is used, as `others` are: store/lookup.h
  SourceNames names;                           // the same
  std::vector<std::unique_ptr<Store>> others;  // read where this one lacks something, in this order
  Evidence evidence;
  Arrivals arrivals;
  Trash trash;
  Objects objects;
  Temporaries temporaries;
  Packs packs;
  PartialNames partial_names;
  std::uint64_t pack_threshold = 0;  // bytes; 0: each file is an object
  std::string job;                   // see work_for()
  Uses uses;
  Checked checked;
  std::mutex mutex;  // of what follows
  std::shared_ptr<SyncGroup> group;
  std::optional<bool> reflinks_known;
  std::set<std::filesystem::path> partials_open;  // own directories of partials of unknown content
  std::uint64_t partials_made = 0;
};

}  // namespace sabath
