#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "verbs/care/adopt_call.h"

namespace sabath::cli {
namespace {
namespace cmd_adopt {

int run_hub(Context& context, const HubAdoptionRequest& request) {
  Session session(context.configuration.session);
  const HubAdoptionRecord record = adopt_hub(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
    return record.exit;
  }
  for (const AdoptedRepository& asset : record.assets) {
    const std::string what = fmt::format("{} at {}", asset.repository, asset.revision);
    if (asset.failure) {
      context.warn(fmt::format("{}: {}{}{}", what, asset.failure->message, asset.failure->hint.empty() ? "" : "; ",
                               asset.failure->hint));
      continue;
    }
    if (asset.unchecked > 0)
      context.warn(fmt::format("{}: {} no hash in the cache: what is there is taken", what,
                               counted(asset.unchecked, "file has", "files have")));
    context.say(
        fmt::format("{}: {}, {}, copied: nothing", what, counted(asset.files, "file"), format_bytes(asset.bytes)));
    context.out.print(asset.name + "\n");
  }
  return record.exit;
}

int run(Context& context, const AdoptionCall& request) {
  if (request.layout == "hf") return run_hub(context, hub_adoption_of(request));
  Session session(context.configuration.session);
  const AdoptionRecord record = adopt(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
    return record.exit;
  }
  context.out.print((record.recipe.empty() ? record.manifest : record.recipe) + "\n");
  context.say(fmt::format("{}: {}, {}, copied: nothing", printable(record.directory.native()),
                          counted(record.files, "file"), format_bytes(record.bytes)));
  if (!record.known_by.empty()) {
    context.say(fmt::format("all who use this store know it as {0}: `sabath {1} {0}` {2}", request.name,
                            record.path.empty() ? "view" : "path",
                            record.path.empty() ? "makes its tree" : "prints where it is"));
  } else if (!request.name.empty()) {
    context.warn(
        fmt::format("another recipe has the name {} and does not pin this: keep what was printed instead of "
                    "it, as datasets/{}.json in a directory of SABATH_RECIPES",
                    request.name, request.name));
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<AdoptionCall>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_adopt
}  // namespace

constexpr Verb adopt_verb{
    .name = "adopt",
    .summary = "register existing files as an asset, without copying them",
    .examples =
        "sabath adopt /project/data/climate --name climate && sabath path climate\n"
        "sabath adopt /project/data/climate --name climate > ~/recipes/datasets/climate.json   a recipe for others\n"
        "sabath adopt /project/data/climate          its root, for a recipe that you write\n"
        "sabath adopt --layout hf ~/.cache/huggingface/hub      what transformers and others have downloaded",
    .details =
        "Each file is read once and hashed. The store then knows where its content is: it is not fetched again, it "
        "can be staged, and its view has symlinks to it. A file that is changed or removed later counts as missing, "
        "and is never served for what it was. Executables are copied into views. The same name with another root is "
        "refused; `sabath rm --forget` frees a name.",
    .declare = cmd_adopt::declare,
};

}  // namespace sabath::cli
