#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_config {

int run(Context& context) {
  if (context.presentation.json) {
    context.out.record_text(to_json(context.configuration));
    return 0;
  }
  Table table({"SETTING", "VALUE", "FROM"});
  for (const ConfigurationEntry& setting : context.configuration.settings) {
    std::string key = setting.key;
    for (const std::string& value : setting.values) {
      table.add({key, printable(value, 1000), key.empty() ? "" : setting.origin});
      key.clear();
    }
    if (setting.values.empty()) table.add({key, "-", setting.origin});
  }
  context.out.print(table.text({}, 0));
  return 0;
}

Action declare(OptionSet&) { return run; }

}  // namespace cmd_config
}  // namespace

constexpr Verb config_verb{
    .name = "config",
    .summary = "show every setting in force, and where it came from",
    .examples =
        "sabath config                    as a table\n"
        "sabath config --store /tmp/s     what a flag would change",
    .details =
        "A flag wins over the environment, that over the user's file ($XDG_CONFIG_HOME/sabath/config.json), that over "
        "the site's (etc/sabath/config.json beside the program's bin, or /etc/sabath/config.json), that over the "
        "default. The files are JSON, docs/configuration.md has their keys. Credentials themselves are never shown.",
    .declare = cmd_config::declare,
    .once = true,
};

}  // namespace sabath::cli
