#include "sabath/verbs/keep.h"
#include "base/text.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/pins.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/kept_root.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

KeepRecord all_kept(const SessionSettings& settings) {
  KeepRecord record;
  const auto store = try_open_store(settings);
  if (!store) return record;
  for (const auto& kept : read_pins(*store)) record.kept.push_back({kept.name, kept.root.prefixed(), kept.time});
  return record;
}

// Under a name, of all versions; under a root, of all names.
std::vector<Pin> let_go(Store& store, const std::string& name) {
  const auto root = Sha256::try_parse(name);
  return remove_pins(store, [&](const Pin& kept) { return kept.name == name || (root && kept.root == *root); });
}

}  // namespace

KeepRecord keep(Session& session, const KeepRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty()) return all_kept(session.settings());
  KeepRecord record;
  const auto store = open_existing_store(session.settings());
  for (const auto& name : request.names) {
    const Sha256 root = kept_root(name, session.settings(), *store);
    // Leased before the look at it, so that no collection takes it in between.
    const Lease lease = store->lease({root}, "keep " + name);
    if (!store->manifest(root)) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
                  fmt::format("{} {}", verb_text("fetch"), shell_word(name)));
    }
    put_pin(*store, {root, name, std::time(nullptr)});
    record.kept.push_back({name, root.prefixed(), std::nullopt});
  }
  return record;
}

UnkeepRecord unkeep(Session& session, const UnkeepRequest& request, EventSink&, std::stop_token) {
  if (request.names.empty()) throw Error(FailureKind::usage, "what to let go is not said", "name it");
  UnkeepRecord record;
  const auto store = open_existing_store(session.settings());
  for (const auto& name : request.names) {
    const auto gone = let_go(*store, name);
    if (gone.empty()) {
      throw Error(FailureKind::not_found, fmt::format("{} is not kept", printable(name)),
                  fmt::format("`{}` lists what is kept", verb_text("keep")));
    }
    for (const auto& pin : gone) record.unkept.push_back({pin.name, pin.root.prefixed(), std::nullopt});
  }
  return record;
}

template <>
struct Described<KeepRequest> {
  using Of = KeepRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset of the store, or its root as sha256:<hex>; none: list what is kept",
                   .argument = "NAME"),
  };
};

template <>
struct Described<UnkeepRequest> {
  using Of = UnkeepRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "as it was kept, or its root as sha256:<hex>", .required = true, .argument = "NAME"),
  };
};

template <>
struct Described<KeptAsset> {
  using Of = KeptAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "as it was called when it was kept", .null_if_empty = true),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(time, .help = "when it was kept, since 1970; in lists only", .unit = "seconds",
                   .absent_if_empty = true),
  };
};

template <>
struct Described<KeepRecord> {
  using Of = KeepRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(kept, .help = "what this call keeps; without names, all that is kept"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<UnkeepRecord> {
  using Of = UnkeepRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(unkept, .help = "what is not kept any more"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const KeepRecord& record) { return record_text(record); }

std::string to_json(const UnkeepRecord& record) { return record_text(record); }

extern constexpr LibraryVerb keep_call = described<keep>("keep");
extern constexpr LibraryVerb unkeep_call = described<unkeep>("unkeep");

}  // namespace sabath
