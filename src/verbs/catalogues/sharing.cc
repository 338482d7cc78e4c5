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
#include "verbs/verb.h"

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

}  // namespace

ExportedCatalogueRecord export_catalogue(Session& session, const ExportCatalogueRequest& request, EventSink&,
                                         std::stop_token stop) {
  if (request.all && !request.names.empty())
    throw Error(FailureKind::usage, fmt::format("{} is of every recipe, and some are named", option_text("all")),
                "leave out the one or the others");
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

SubscriptionsRecord subscriptions(Session& session, const SubscriptionsRequest&, EventSink&, std::stop_token) {
  SubscriptionsRecord record;
  for (Subscription& one : subscriptions_in(session.settings().recipe_directories)) {
    SubscriptionChange change;
    change.before = one.pin;
    change.subscription = std::move(one);
    record.catalogues.push_back(std::move(change));
  }
  return record;
}

template <>
struct Described<ExportCatalogueRequest> {
  using Of = ExportCatalogueRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(directory, .help = "absent or empty, or an earlier export", .required = true, .argument = "DIR"),
      SABATH_FIELD(names, .help = "assets (default: all of your own)", .argument = "NAME"),
      SABATH_FIELD(all, .help = "also what came with the program"),
      SABATH_FIELD(pin, .help = "write what the store holds of each into what is exported, as `catalogue pin` does"),
  };
};

template <>
struct Described<ExportedCatalogueRecord> {
  using Of = ExportedCatalogueRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(index, .help = "the file that others subscribe"),
      SABATH_FIELD(assets, .help = "recipes in it"),
      SABATH_FIELD(tombstones, .help = "of removed recipes, in it"),
      SABATH_FIELD(left_out, .help = "recipes that cannot be read, and why"),
      SABATH_FIELD(unpinned, .help = "recipes that were to be pinned, and why they are not"),
      SABATH_FIELD(doubts, .help = "what subscribers cannot use, and why"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<SubscribeRequest> {
  using Of = SubscribeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(url, .help = "a git repository, or an exported catalogue", .required = true, .argument = "URL"),
      SABATH_FIELD_AS("as", name, .help = "the prefix of its assets (default: by the URL)", .value = "NAME"),
      SABATH_FIELD(at, .help = "a commit, or the index's sha256:<hex>: updates stay there", .value = "VERSION"),
  };
};

template <>
struct Described<UpdateCatalogueRequest> {
  using Of = UpdateCatalogueRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "catalogues (default: all)", .argument = "NAME"),
      SABATH_FIELD(at, .help = "a commit, or the index's sha256:<hex>", .value = "VERSION"),
      SABATH_FIELD(dry_run, .help = "say what would change", .letter = 'n'),
  };
};

template <>
struct Described<UnsubscribeRequest> {
  using Of = UnsubscribeRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "a catalogue", .required = true, .argument = "NAME"),
  };
};

template <>
struct Described<SubscriptionsRequest> {
  using Of = SubscriptionsRequest;
  static constexpr Fields table = {};
};

template <>
struct Described<SubscriptionChange> {
  using Of = SubscriptionChange;
  static constexpr Field table[] = {
      SABATH_FIELD_AS("name", subscription.name, .help = "the prefix of its assets"),
      SABATH_FIELD_AS("url", subscription.url, .help = "where it comes from"),
      SABATH_FIELD_AS("pin", subscription.pin, .help = "its version: a git commit, or the hash of its index",
                      .null_if_empty = true),
      SABATH_FIELD(before, .help = "the version before; null: it is new", .null_if_empty = true),
      SABATH_FIELD_AS("fixed", subscription.fixed, .help = "the user chose the version, and an update stays there"),
      SABATH_FIELD_AS("recipes", subscription.recipes, .help = "how many it has"),
      SABATH_FIELD_AS("updated", subscription.updated, .help = "when it was read last, in UTC", .null_if_empty = true),
      SABATH_FIELD_AS("directory", subscription.directory, .help = "where its recipes are"),
      SABATH_FIELD(added, .help = "recipes that are new"),
      SABATH_FIELD(changed, .help = "recipes that changed"),
      SABATH_FIELD(removed, .help = "recipes that have gone"),
      SABATH_FIELD(left_out, .help = "files that are no recipes, and why"),
  };
};

template <>
struct Described<SubscriptionsRecord> {
  using Of = SubscriptionsRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(catalogues, .help = "those that the call is about"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const ExportedCatalogueRecord& record) { return record_text(record); }
std::string to_json(const SubscriptionsRecord& record) { return record_text(record); }

extern constexpr LibraryVerb catalogue_export_call = described<export_catalogue>("catalogue export");
extern constexpr LibraryVerb catalogue_subscribe_call = described<subscribe>("catalogue subscribe");
extern constexpr LibraryVerb catalogue_update_call = described<update_catalogues>("catalogue update");
extern constexpr LibraryVerb catalogue_unsubscribe_call = described<unsubscribe>("catalogue unsubscribe");
extern constexpr LibraryVerb catalogue_list_call = described<subscriptions>("catalogue list");

}  // namespace sabath
