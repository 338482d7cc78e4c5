#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/verbs.h"
#include "demo/demo.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_demo {

using demo::DemoRecord;

struct Options {
  std::string directory = "sabath-demo";
};

std::string told_end(const DemoRecord& record) {
  const std::string at = record.directory.string();
  std::string text =
      fmt::format("\n== Done, in {}\ndata      {}/store\nrecipe    {}/recipes/datasets\nstaged    {}/nodes/0{}\n",
                  format_duration(record.seconds), at, at, at,
                  record.nodes > 1 ? fmt::format(" and {} more", record.nodes - 1) : "");
  if (!record.figure.empty())
    text += fmt::format("run       {}/run: run.json, metrics.jsonl, ...\nfigure    {}\n", at, record.figure.string());
  for (const auto& [what, why] : record.left_out) text += fmt::format("left out  {}: {}\n", what, why);
  text += "\nNext:\n";
  if (!record.figure.empty()) text += fmt::format("  sabath --store {}/store run cosmoflow-nano\n", shell_word(at));
  return text +
         "  sabath list                        recipes that come with SABATH\n"
         "  sabath doctor                      is this machine ready?\n"
         "  sabath fetch cosmoflow --dry-run   what would move, and from where\n";
}

int run(Context& context, const Options& options) {
  const auto tell = [&context](std::string_view text) {
    if (context.presentation.quiet) return;
    if (context.presentation.json) {
      std::fwrite(text.data(), 1, text.size(), stderr);
    } else {
      context.out.print(text);
      context.out.flush();
    }
  };
  const DemoRecord record = demo::tell({.directory = std::filesystem::absolute(options.directory).lexically_normal(),
                                        .program = context.configuration.session.program,
                                        .variables = context.environment.variables,
                                        .on_text = tell},
                                       context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
  } else {
    context.out.print(told_end(record));
  }
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.option("-o,--output", "DIR", options->directory, "an empty or new directory; default ./sabath-demo");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_demo
}  // namespace

constexpr Verb demo_verb{
    "demo",
    "show on this machine what SABATH does, in a minute",
    "sabath demo                       in ./sabath-demo\n"
    "sabath demo -o /tmp/try --json    a record of what was done",
    "Makes small universes with the structure of CosmoUniverse's files and serves them from two mirrors on loopback. "
    "Then "
    "it fetches, verifies, fetches again without a server, stages to four pretended nodes, trains a small model and "
    "draws its figure; each command is shown as you would type it. Nothing but this program is needed. Without mpirun "
    "one rank stages to one node, and without a python3 that has numpy and h5py the model is left out; it says so.\n\n"
    "All that it makes is in the one directory, some 110 MB; no process stays. Settings of the user and of the "
    "environment do not count.",
    true,
    cmd_demo::declare,
};

}  // namespace sabath::cli
