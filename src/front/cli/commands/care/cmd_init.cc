#include <fmt/format.h>

#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/verbs/init.h"

namespace sabath::cli {
namespace {
namespace cmd_init {

void print(Context& context, const InitRecord& record) {
  context.out.print(record.store.string() + "\n");
  if (record.shared) {
    context.say(
        "each member believes what he or root fetched, and only checksums of others; to believe a member, name him "
        "by \"trusted_owners\": [\"USER\"] in the configuration (/etc/sabath/config.json is for all)");
    context.say(
        fmt::format("who collects: each member what he alone has fetched, root what no member has used for 30 days: "
                    "sabath gc --store {} --max-size SIZE; docs/install.md has a timer for it, and quotas",
                    shell_word(record.store.string())));
  } else {
    context.say(fmt::format("only you can enter it; `chmod 755 {}` lets every account read what it holds",
                            shell_word(record.store.string())));
  }
}

}  // namespace cmd_init
}  // namespace

constexpr Verb init_verb{
    .name = "init",
    .summary = "make a store",
    .examples = "sabath init --store /project/p1/store --shared --group p1",
    .details =
        "Without --shared there is no need for it: the first fetch makes the store. A shared one is writable for "
        "its group; each member believes what he hashed himself, and what root and the `trusted_owners` of his "
        "configuration did.",
    .declare = declare<init, cmd_init::print>,
};

}  // namespace sabath::cli
