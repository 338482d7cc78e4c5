// `catalogue export`, `subscribe`, `update`, `unsubscribe`, `list`.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/wording.h"
#include "catalogues/export.h"
#include "catalogues/subscription.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/url_recipe.h"
#include "verbs/catalogues/catalogue_records.h"
#include "verbs/records.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

const Subscription& find_subscription(const std::vector<Subscription>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Subscription::name);
  if (found != all.end()) return *found;
  throw Error(FailureKind::not_found, fmt::format("no catalogue {} is subscribed", printable(name)),
              all.empty() ? "none is" : fmt::format("there is {}", all.front().name));
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A commit of a repository, or the hash of an index.
std::string checked_pin(const std::string& url, const std::string& at) {
  if (is_git_url(url) ? at.size() >= 40 && is_hex(at)
                      : at.size() == 71 && at.starts_with("sha256:") && is_hex(std::string_view(at).substr(7)))
    return at;
  throw Error(FailureKind::usage, fmt::format("\"{}\" is no version of {}", printable(at), printable(url, 1000)),
              is_git_url(url) ? "name a whole commit, of 40 digits" : "name the index's hash, as sha256:<64 digits>");
}

// DIR of DIR/catalogues/NAME.
fs::path home_of(const Subscription& one) { return one.directory.parent_path().parent_path(); }

Json json_of_change(const SubscriptionChange& change) {
  const Subscription& one = change.subscription;
  return {{"name", one.name},
          {"url", one.url},
          {"pin", text_or_null(one.pin)},
          {"before", text_or_null(change.before)},
          {"fixed", one.fixed},
          {"recipes", one.recipes},
          {"updated", text_or_null(one.updated)},
          {"directory", one.directory.string()},
          {"added", change.added},
          {"changed", change.changed},
          {"removed", change.removed},
          {"left_out", change.left_out}};
}

}  // namespace

ExportedCatalogueRecord export_catalogue(Session& session, const ExportCatalogueRequest& request, EventSink&,
                                         std::stop_token stop) {
  return write_catalogue(session.settings(), request, stop);
}

SubscriptionsRecord subscribe(Session& session, const SubscribeRequest& request, EventSink& events,
                              std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  Subscription wanted;
  wanted.url = request.url;
  if (request.url.find("://") == std::string::npos) {
    throw Error(FailureKind::usage, fmt::format("{} is no URL", printable(request.url, 1000)),
                "name a git repository or an exported catalogue by https://, ssh:// or file://");
  }
  wanted.name = request.name.empty() ? name_of_catalogue(request.url) : request.name;
  if (!is_name(wanted.name) || wanted.name.find('/') != std::string::npos)
    throw Error(FailureKind::usage, fmt::format("\"{}\" is no name for a catalogue", printable(wanted.name)));
  for (const Subscription& known : subscriptions_in(settings.recipe_directories)) {
    if (known.name != wanted.name) continue;
    throw Error(FailureKind::usage,
                fmt::format("{} is subscribed already, from {}", wanted.name, printable(known.url, 1000)),
                fmt::format("update it, or take another name by {}", option_text("as")));
  }
  if (!request.at.empty()) {
    wanted.pin = checked_pin(request.url, request.at);
    wanted.fixed = true;
  }
  const fs::path home = home_for_recipes(settings.recipe_homes);
  return {{take_catalogue(settings, home, wanted, true, events, std::move(stop))}};
}

SubscriptionsRecord update_catalogues(Session& session, const UpdateCatalogueRequest& request, EventSink& events,
                                      std::stop_token stop) {
  const SessionSettings& settings = session.settings();
  const std::vector<Subscription> all = subscriptions_in(settings.recipe_directories);
  std::vector<Subscription> meant;
  for (const std::string& name : request.names) meant.push_back(find_subscription(all, name));
  if (request.names.empty()) meant = all;
  if (!request.at.empty() && meant.size() != 1)
    throw Error(FailureKind::usage, "a version is of one catalogue", "name it");
  SubscriptionsRecord record;
  for (Subscription& one : meant) {
    if (!request.at.empty()) {
      one.pin = checked_pin(one.url, request.at);
      one.fixed = true;
    }
    record.catalogues.push_back(take_catalogue(settings, home_of(one), one, !request.dry_run, events, stop));
  }
  return record;
}

SubscriptionsRecord unsubscribe(Session& session, const UnsubscribeRequest& request, EventSink&, std::stop_token) {
  const std::vector<Subscription> all = subscriptions_in(session.settings().recipe_directories);
  SubscriptionChange change;
  change.subscription = find_subscription(all, request.name);
  change.before = change.subscription.pin;
  const fs::path& place = change.subscription.directory;
  const fs::path old = place.parent_path() / fmt::format(".{}.old", request.name);
  remove_tree(old);
  rename_path(place, old);  // whole or not at all
  remove_tree(old);
  return {{std::move(change)}};
}

SubscriptionsRecord subscriptions(Session& session) {
  SubscriptionsRecord record;
  for (Subscription& one : subscriptions_in(session.settings().recipe_directories)) {
    SubscriptionChange change;
    change.before = one.pin;
    change.subscription = std::move(one);
    record.catalogues.push_back(std::move(change));
  }
  return record;
}

Json json_of(const ExportedCatalogueRecord& record) {
  return {{"schema", 1},
          {"index", record.index.string()},
          {"assets", record.assets},
          {"tombstones", record.tombstones},
          {"left_out", record.left_out},
          {"unpinned", record.unpinned},
          {"doubts", record.doubts},
          {"exit", record.exit}};
}

Json json_of(const SubscriptionsRecord& record) {
  Json catalogues = Json::array();
  for (const SubscriptionChange& change : record.catalogues) catalogues.push_back(json_of_change(change));
  return {{"schema", 1}, {"catalogues", std::move(catalogues)}, {"exit", record.exit}};
}

std::string to_json(const ExportedCatalogueRecord& record) { return text_of(json_of(record)); }
std::string to_json(const SubscriptionsRecord& record) { return text_of(json_of(record)); }

Json call_catalogue_export(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const ExportCatalogueRequest request{asked.text("directory"), asked.texts("names"), asked.flag("all"),
                                       asked.flag("pin")};
  asked.finish();
  return json_of(export_catalogue(session, request, events, std::move(stop)));
}

Json call_catalogue_subscribe(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const SubscribeRequest request{asked.text("url"), asked.try_text("as").value_or(""),
                                 asked.try_text("at").value_or("")};
  asked.finish();
  return json_of(subscribe(session, request, events, std::move(stop)));
}

Json call_catalogue_update(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const UpdateCatalogueRequest request{asked.texts("names"), asked.try_text("at").value_or(""), asked.flag("dry_run")};
  asked.finish();
  return json_of(update_catalogues(session, request, events, std::move(stop)));
}

Json call_catalogue_unsubscribe(Session& session, JsonObject& asked, EventSink& events, std::stop_token stop) {
  const UnsubscribeRequest request{asked.text("name")};
  asked.finish();
  return json_of(unsubscribe(session, request, events, std::move(stop)));
}

Json call_catalogue_list(Session& session, JsonObject& asked, EventSink&, std::stop_token) {
  asked.finish();
  return json_of(subscriptions(session));
}

}  // namespace sabath
