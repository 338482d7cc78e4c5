#include <fmt/format.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/import.h"

namespace sabath::cli {
namespace {
namespace cmd_import {

int run(Context& context, ImportRequest& request) {
  if (request.file == "-") request.descriptor = STDIN_FILENO;
  Session session(context.configuration.session);
  const ImportRecord record = import_bundle(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
    return record.exit;
  }
  for (const auto& asset : record.assets) {
    context.out.print(fmt::format("{}  {}\n", asset.manifest, asset.name));
    for (const auto& path : asset.missing) context.say(fmt::format("missing: {}", printable(path)));
    if (asset.missing_files > 0) {
      context.say(fmt::format("{} of {} missing of {}: `sabath export --missing {} -o LIST`, and export by it",
                              asset.missing_files, counted(asset.files, "file is", "files are"), asset.name,
                              shell_word(asset.name)));
    } else if (asset.known) {
      context.say(fmt::format("next: `sabath {} {}` {}", asset.path.empty() ? "view" : "path", shell_word(asset.name),
                              asset.path.empty() ? "makes its tree" : "prints where it is"));
    } else {
      context.say(fmt::format("next: `sabath import {} {}` trusts the bundle for it, as its recipe pins nothing",
                              request.file == "-" ? "-" : shell_word(request.file), shell_word(asset.name)));
    }
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ImportRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_import
}  // namespace

constexpr Verb import_verb{
    .name = "import",
    .summary = "read such a file into the store, verified",
    .examples =
        "sabath import climate.tar && sabath path climate\n"
        "sabath import climate.tar climate        a recipe here has the name and pins nothing: trust the bundle\n"
        "zstd -dc climate.tar.zst | sabath import -",
    .details =
        "Nothing is published but what its hash proves; chunks that are not in the bundle and are in other objects "
        "are copied from there. What an interrupted import has verified is kept. Exit code 8 when something is missing "
        "in the end.",
    .declare = cmd_import::declare,
};

}  // namespace sabath::cli
