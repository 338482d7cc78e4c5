#include "sabath/verbs/rm.h"
#include "base/text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/collect/removal.h"
#include "store/pins.h"
#include "store/registered.h"
#include "verbs/assets/kept_root.h"
#include "verbs/care/removed_asset.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

[[noreturn]] void refuse_kept(const std::string& name, const Sha256& root, const Store& store) {
  std::string as;
  for (const auto& pin : read_pins(store)) {
    if (pin.root == root) as += (as.empty() ? "" : " ") + shell_word(pin.name.empty() ? root.prefixed() : pin.name);
  }
  throw Error(FailureKind::usage, fmt::format("{} is kept", printable(name)),
              fmt::format("`{} {}` lets it go", verb_text("unkeep"), as.empty() ? root.prefixed() : as));
}

// The asset; where only parts of it are here, one of them, with which the others go.
RemovedAsset asset_or_part(const SessionSettings& settings, Store& store, const std::string& name) {
  Sha256 root{};
  try {
    root = kept_root(name, settings, store);
  } catch (const Error& error) {
    if (error.failure().kind != FailureKind::offline) throw;
  }
  RemovedAsset asset = asset_of(name, root, settings);
  if (store.manifest(root)) return asset;
  const auto parts = parts_of(store, asset);
  if (parts.empty()) {
    throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(name)),
                fmt::format("`{}` shows what it holds", verb_text("list")));
  }
  asset.root = parts.front();
  return asset;
}

RemovedContent remove_content(const SessionSettings& settings, Store& store, const std::string& name, bool now,
                              const std::stop_token& stop) {
  const RemovedAsset asset = asset_or_part(settings, store, name);
  const Sha256& root = asset.root;
  RemovalReport report = remove_asset(store, asset, now, stop);
  if (report.pinned) refuse_kept(name, root, store);
  if (report.why_kept.starts_with("in use")) {
    throw Error(FailureKind::storage, fmt::format("{} is {}", printable(name), report.why_kept),
                "say it again when that has ended");
  }
  if (!report.why_kept.empty())
    report.why_kept += fmt::format(": `{} {}` removes it under all its names", verb_text("rm"), root.prefixed());
  return {name,
          root.prefixed(),
          report.freed_bytes,
          report.trash_bytes,
          report.shared_bytes,
          report.parts,
          report.used_bytes,
          {report.users.begin(), report.users.end()},
          std::move(report.used_by),
          report.until_ns,
          std::move(report.waiting),
          std::move(report.why_kept),
          false};
}

}  // namespace

RemovalRecord rm(Session& session, const RemovalRequest& request, EventSink&, std::stop_token stop) {
  if (request.names.empty()) throw Error(FailureKind::usage, "what to remove is not said", "name it");
  const SessionSettings& settings = session.settings();
  const auto store = open_existing_store(settings);
  RemovalRecord record;
  for (const auto& name : request.names) {
    RemovedContent gone{name, "", 0, 0, 0, 0, 0, {}, "", 0, "", "", false};
    try {
      gone = remove_content(settings, *store, name, request.now, stop);
    } catch (const Error& error) {
      if (error.failure().kind != FailureKind::offline || !request.forget) throw;
    }
    gone.forgotten = request.forget && forget_recipe(*store, name);
    if (request.forget && !gone.forgotten) {
      throw Error(FailureKind::not_found, fmt::format("{} is no name that was registered here", printable(name)),
                  "the recipe of a directory is a file of its own: remove that");
    }
    record.assets.push_back(std::move(gone));
  }
  return record;
}

template <>
struct Described<RemovalRequest> {
  using Of = RemovalRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset of the store, or its root as sha256:<hex>", .required = true,
                   .argument = "NAME"),
      SABATH_FIELD(now, .help = "delete what no source can restore, too: nothing to take back"),
      SABATH_FIELD(forget, .help = "also free the name that `sabath adopt` or `sabath import` made known"),
  };
};

template <>
struct Described<RemovedContent> {
  using Of = RemovedContent;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(manifest, .help = "its root; null: only its name was there", .null_if_empty = true),
      SABATH_FIELD(freed_bytes, .help = "freed on the disk", .unit = "bytes"),
      SABATH_FIELD(trash_bytes, .help = "moved to the trash, as no source can restore it", .unit = "bytes"),
      SABATH_FIELD(shared_bytes, .help = "what stays, as other assets need it", .unit = "bytes"),
      SABATH_FIELD(parts, .help = "samples and selections of it that went with it"),
      SABATH_FIELD(used_bytes, .help = "what stays, as other members of a shared store use it", .unit = "bytes"),
      SABATH_FIELD(users, .help = "these members, by their numbers"),
      SABATH_VALUE(
          "until", [](const Of& of) { return seconds_until(of.until_ns); },
          .help = "when their use ends, since 1970; null: it is not known, or only a view is left", .unit = "seconds"),
      SABATH_FIELD(waiting, .help = "why the trash could not be emptied", .null_if_empty = true),
      SABATH_FIELD(kept, .help = "why nothing went", .null_if_empty = true),
      SABATH_FIELD(forgotten, .help = "its name is free again"),
  };
};

template <>
struct Described<RemovalRecord> {
  using Of = RemovalRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "what went, or why it stays, in the order of the names"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const RemovalRecord& record) { return record_text(record); }

extern constexpr LibraryVerb rm_call = described<rm>("rm");

}  // namespace sabath
