#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/init.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_init {

struct Options {
  bool shared = false;
  std::optional<std::string> group;
};

int run(Context& context, const Options& options) {
  if (options.group && !options.shared) {
    throw Error(FailureKind::usage, "--group is for a store that is --shared", "say both, or neither");
  }
  Session session(context.configuration.session);
  NoEvents unheard;
  const InitRecord record = init(session, {options.shared, options.group}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    context.out.print(record.store.string() + "\n");
    if (record.shared) {
      context.say(
          "each member believes what he or root fetched, and only checksums of others; to believe a member, name him "
          "by \"trusted_owners\": [\"USER\"] in the configuration (/etc/sabath/config.json is for all)");
      context.say(
          fmt::format("who collects: each member what he alone has fetched, root what no member has used for 30 days: "
                      "sabath gc --store "
                      "{} --max-size SIZE; docs/install.md has a timer for it, and quotas",
                      shell_word(record.store.string())));
    } else {
      context.say(fmt::format("only you can enter it; `chmod 755 {}` lets every account read what it holds",
                              shell_word(record.store.string())));
    }
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.flag("--shared", options->shared, "for all members of its group");
  set.option("--group", "GROUP", options->group, "of the store, with --shared (default: yours)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_init
}  // namespace

constexpr Verb init_verb{
    "init",
    "make a store",
    "sabath init --store /project/p1/store --shared --group p1",
    "Without --shared there is no need for it: the first fetch makes the store. A shared one is writable for its "
    "group; "
    "each member believes what he hashed himself, and what root and the `trusted_owners` of his configuration did.",
    false,
    cmd_init::declare,
};

}  // namespace sabath::cli
