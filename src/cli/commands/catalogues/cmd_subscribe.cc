// `catalogue subscribe`, `update`, `unsubscribe`, `list`: catalogues of others.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/verbs.h"
#include "sabath/catalogues.h"
#include "sabath/path.h"
#include "verbs/catalogues/catalogue_records.h"

namespace sabath::cli {
namespace {
namespace cmd_subscribe {

std::string listed(const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t shown_max = 8;
  if (names.empty()) return {};
  std::string text = fmt::format("; {} {}:", names.size(), what);
  for (std::size_t i = 0; i < names.size() && i < shown_max; ++i) text += " " + printable(names[i]);
  return text + (names.size() > shown_max ? " ..." : "");
}

int told(const Context& context, const SubscriptionsRecord& record) {
  for (const SubscriptionChange& change : record.catalogues) {
    for (const std::string& line : change.left_out) context.say(fmt::format("left out: {}", printable(line, 1000)));
  }
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  for (const SubscriptionChange& change : record.catalogues) {
    const Subscription& one = change.subscription;
    context.out.print(fmt::format("{}  {}  {}{}  {}{}{}{}\n", one.name, counted(one.recipes, "recipe"),
                                  printable(one.pin, 100), one.fixed ? " (fixed)" : "", printable(one.url, 1000),
                                  listed("new", change.added), listed("changed", change.changed),
                                  listed("gone", change.removed)));
  }
  return record.exit;
}

Action declare_subscribe(OptionSet& set) {
  const auto request = std::make_shared<SubscribeRequest>();
  set.argument("URL", request->url, "a git repository, or an exported catalogue");
  set.option("--as", "NAME", request->name, "the prefix of its assets (default: by the URL)");
  set.option("--at", "VERSION", request->at, "a commit, or the index's sha256:<hex>: updates stay there");
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    return told(context, subscribe(session, *request, unheard, context.stop));
  };
}

Action declare_update(OptionSet& set) {
  const auto request = std::make_shared<UpdateCatalogueRequest>();
  set.arguments("NAME", request->names, false, "catalogues (default: all)");
  set.option("--at", "VERSION", request->at, "a commit, or the index's sha256:<hex>");
  set.flag("-n,--dry-run", request->dry_run, "say what would change");
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    return told(context, update_catalogues(session, *request, unheard, context.stop));
  };
}

Action declare_unsubscribe(OptionSet& set) {
  const auto request = std::make_shared<UnsubscribeRequest>();
  set.argument("NAME", request->name, "a catalogue");
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const SubscriptionsRecord record = unsubscribe(session, *request, unheard, context.stop);
    if (context.presentation.json) context.out.record(json_of(record));
    context.say(fmt::format("{} is not searched any more; what was fetched stays", request->name));
    return record.exit;
  };
}

Action declare_list(OptionSet&) {
  return [](Context& context) {
    Session session(context.configuration.session);
    const SubscriptionsRecord record = subscriptions(session);
    if (record.catalogues.empty()) context.say("no catalogue is subscribed");
    return told(context, record);
  };
}

}  // namespace cmd_subscribe
}  // namespace

constexpr Verb catalogue_subscribe_verb{
    "catalogue subscribe",
    "search a catalogue of others, too",
    "sabath catalogue subscribe https://git.example.org/lab.git\n"
    "sabath catalogue subscribe https://lab.example.org/sets/index.json --as lab\n"
    "sabath fetch lab/cosmoflow",
    "Its recipes are copied, and stay as they are until `sabath catalogue update`. They are called NAME/ASSET; ASSET "
    "alone means one of them only where nothing else has the name. Their code is asked about, always.",
    false,
    cmd_subscribe::declare_subscribe,
};

constexpr Verb catalogue_update_verb{
    "catalogue update",
    "get the recipes of subscribed catalogues anew",
    "sabath catalogue update            all of them\n"
    "sabath catalogue update lab -n     what would change",
    "A catalogue that was subscribed with --at stays there, unless --at names another version.",
    false,
    cmd_subscribe::declare_update,
};

constexpr Verb catalogue_unsubscribe_verb{
    "catalogue unsubscribe",
    "leave a catalogue out of searches",
    "sabath catalogue unsubscribe lab",
    "What was fetched by its recipes stays in the store.",
    false,
    cmd_subscribe::declare_unsubscribe,
};

constexpr Verb catalogue_list_verb{
    "catalogue list",
    "show the subscribed catalogues",
    "sabath catalogue list              name, recipes, version, URL",
    "",
    false,
    cmd_subscribe::declare_list,
};

}  // namespace sabath::cli
