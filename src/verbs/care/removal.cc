#include "sabath/removal.h"
#include "base/text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "store/collect/removal.h"
#include "store/pins.h"
#include "store/registered.h"
#include "verbs/care/kept_root.h"
#include "verbs/care/removed_asset.h"
#include "verbs/records.h"

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

RemovalRecord remove(Session& session, const RemovalRequest& request, EventSink&, std::stop_token stop) {
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

Json json_of(const RemovalRecord& record) {
  Json all = Json::array();
  for (const auto& asset : record.assets) {
    all.push_back({{"name", asset.name},
                   {"manifest", text_or_null(asset.manifest)},
                   {"freed_bytes", asset.freed_bytes},
                   {"trash_bytes", asset.trash_bytes},
                   {"shared_bytes", asset.shared_bytes},
                   {"parts", asset.parts},
                   {"used_bytes", asset.used_bytes},
                   {"users", asset.users},
                   {"until", until_or_null(asset.until_ns)},
                   {"waiting", text_or_null(asset.waiting)},
                   {"kept", text_or_null(asset.kept)},
                   {"forgotten", asset.forgotten}});
  }
  return {{"schema", 1}, {"assets", std::move(all)}, {"exit", record.exit}};
}

std::string to_json(const RemovalRecord& record) { return text_of(json_of(record)); }

Json call_remove(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const RemovalRequest asked{request.some_texts("names"), request.flag("now"), request.flag("forget")};
  request.finish();
  return json_of(remove(session, asked, events, std::move(stop)));
}

}  // namespace sabath
