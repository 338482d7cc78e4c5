#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/views.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_path {

struct Options {
  std::string name, fragment;
};

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const PathRecord record = find_path(session, {options.name, options.fragment}, unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    context.out.print(record.path.string() + "\n");  // for $(sabath path NAME): as it is on disk
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("NAME", options->name, "an asset that was fetched");
  set.option("--fragment", "ID", options->fragment, "the place of this part: a file, or the directory that holds it");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_path
}  // namespace

constexpr Verb path_verb{
    "path",
    "print where a fetched asset stands",
    "p=$(sabath path mnist) && cd \"$p\"    a script goes on only if it is there\n"
    "python train.py --data \"$(sabath path mnist)\"\n"
    "sabath path --fragment main mnist",
    "Exit code 9 when the asset, or a part of it, is not in the store: then nothing is printed on standard output.",
    false,
    cmd_path::declare,
};

}  // namespace sabath::cli
