// `catalogue subscribe`, `update`, `unsubscribe`, `list`: catalogues of others.
#include <fmt/format.h>

#include <memory>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/catalogue.h"

namespace sabath::cli {
namespace {
namespace cmd_catalogue_subscribe {

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
    context.out.record_text(to_json(record));
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

template <auto function>
Action declare_change(OptionSet& set) {
  const auto request = std::make_shared<typename VerbFunction<decltype(function)>::Request>();
  declare_fields(set, *request);
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    return told(context, function(session, *request, unheard, context.stop));
  };
}

Action declare_unsubscribe(OptionSet& set) {
  const auto request = std::make_shared<UnsubscribeRequest>();
  declare_fields(set, *request);
  return [request](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const SubscriptionsRecord record = catalogue_unsubscribe(session, *request, unheard, context.stop);
    if (context.presentation.json) context.out.record_text(to_json(record));
    context.say(fmt::format("{} is not searched any more; what was fetched stays", request->name));
    return record.exit;
  };
}

Action declare_list(OptionSet&) {
  return [](Context& context) {
    Session session(context.configuration.session);
    NoEvents unheard;
    const SubscriptionsRecord record = catalogue_list(session, {}, unheard, context.stop);
    if (record.catalogues.empty()) context.say("no catalogue is subscribed");
    return told(context, record);
  };
}

}  // namespace cmd_catalogue_subscribe
}  // namespace

constexpr Verb catalogue_subscribe_verb{
    .name = "catalogue subscribe",
    .summary = "search a catalogue of others, too",
    .examples =
        "sabath catalogue subscribe https://git.example.org/lab.git\n"
        "sabath catalogue subscribe https://lab.example.org/sets/index.json --as lab\n"
        "sabath fetch lab/cosmoflow",
    .details =
        "Its recipes are copied, and stay as they are until `sabath catalogue update`. They are called NAME/ASSET; "
        "ASSET alone means one of them only where nothing else has the name. Their code is asked about, always.",
    .declare = cmd_catalogue_subscribe::declare_change<catalogue_subscribe>,
};

constexpr Verb catalogue_update_verb{
    .name = "catalogue update",
    .summary = "get the recipes of subscribed catalogues anew",
    .examples =
        "sabath catalogue update            all of them\n"
        "sabath catalogue update lab -n     what would change",
    .details = "A catalogue that was subscribed with --at stays there, unless --at names another version.",
    .declare = cmd_catalogue_subscribe::declare_change<catalogue_update>,
};

constexpr Verb catalogue_unsubscribe_verb{
    .name = "catalogue unsubscribe",
    .summary = "leave a catalogue out of searches",
    .examples = "sabath catalogue unsubscribe lab",
    .details = "What was fetched by its recipes stays in the store.",
    .declare = cmd_catalogue_subscribe::declare_unsubscribe,
};

constexpr Verb catalogue_list_verb{
    .name = "catalogue list",
    .summary = "show the subscribed catalogues",
    .examples = "sabath catalogue list              name, recipes, version, URL",
    .details = "",
    .declare = cmd_catalogue_subscribe::declare_list,
};

}  // namespace sabath::cli
