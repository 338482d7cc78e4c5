#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/adoption.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_adopt {

struct Options {
  std::string directory;
  std::optional<std::string> name;
  std::string layout = "files";
  std::optional<std::uint64_t> threads;
};

int run_hub(Context& context, const Options& options) {
  if (options.name) throw Error(FailureKind::usage, "--name is not for --layout hf: each repository has its own");
  Session session(context.configuration.session);
  const HubAdoptionRequest request{options.directory, static_cast<unsigned>(options.threads.value_or(0))};
  const HubAdoptionRecord record = adopt_hub(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
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
      context.warn(fmt::format("{}: {} no hash in the cache: what stands there is taken", what,
                               counted(asset.unchecked, "file has", "files have")));
    context.say(
        fmt::format("{}: {}, {}, copied: nothing", what, counted(asset.files, "file"), format_bytes(asset.bytes)));
    context.out.print(asset.name + "\n");
  }
  return record.exit;
}

int run(Context& context, const Options& options) {
  if (options.layout == "hf") return run_hub(context, options);
  const AdoptionRequest request{options.directory, options.name.value_or(""),
                                static_cast<unsigned>(options.threads.value_or(0))};
  Session session(context.configuration.session);
  const AdoptionRecord record = adopt(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  context.out.print((record.recipe.empty() ? record.manifest : record.recipe) + "\n");
  context.say(fmt::format("{}: {}, {}, copied: nothing", printable(record.directory.native()),
                          counted(record.files, "file"), format_bytes(record.bytes)));
  if (!record.known_by.empty()) {
    context.say(fmt::format("all who use this store know it as {0}: `sabath {1} {0}` {2}", request.name,
                            record.path.empty() ? "view" : "path",
                            record.path.empty() ? "makes its tree" : "prints where it stands"));
  } else if (!request.name.empty()) {
    context.warn(
        fmt::format("another recipe has the name {} and does not pin this: keep what was printed instead of "
                    "it, as datasets/{}.json in a directory of SABATH_RECIPES",
                    request.name, request.name));
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("DIR", options->directory, "a directory whose files stay where they are");
  set.option("--name", "NAME", options->name, "all who use the store know it by this name; its recipe is printed");
  set.choice("--layout", {"files", "hf"}, options->layout,
             "DIR is one asset (the default), or a cache of Hugging Face's hub: each revision of it is one");
  set.count("-j,--threads", "N", 1024, options->threads, "threads that read and hash (default: one a core)");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_adopt
}  // namespace

constexpr Verb adopt_verb{
    "adopt",
    "know data that is here already, without copying it",
    "sabath adopt /project/data/climate --name climate && sabath path climate\n"
    "sabath adopt /project/data/climate --name climate > ~/recipes/datasets/climate.json   a recipe for others\n"
    "sabath adopt /project/data/climate          its root, for a recipe that you write\n"
    "sabath adopt --layout hf ~/.cache/huggingface/hub      what transformers and others have downloaded",
    "Each file is read once and hashed. The store then knows where its content stands: it is not fetched again, it can "
    "be "
    "staged, and its view has symlinks to it. A file that is changed or removed later counts as missing, and is never "
    "served for what it was. Executables are copied into views. The same name with another root is refused; `sabath rm "
    "--forget` frees "
    "a name.",
    false,
    cmd_adopt::declare,
};

}  // namespace sabath::cli
