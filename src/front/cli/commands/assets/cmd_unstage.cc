#include <fmt/format.h>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "comm/emulated_nodes.h"
#include "comm/solo_comm.h"
#include "sabath/verbs/unstage.h"

namespace sabath::cli {
namespace {
namespace cmd_unstage {

struct Options {
  UnstageRequest request;
  std::optional<std::uint64_t> emulated;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

int run(Context& context, const Options& options) {
  const auto solo = make_solo_comm();
  Comm* comm = context.ranks != nullptr ? context.ranks : solo.get();
  std::unique_ptr<Comm> emulated;
  if (options.emulated) {
    emulated = emulate_nodes(*comm, static_cast<unsigned>(*options.emulated));
    comm = emulated.get();
  }
  Session session(context.configuration.session, comm);
  NoEvents unheard;
  const UnstageRecord record = unstage(session, options.request, unheard, context.stop);
  if (!context.speaks()) return record.exit;
  context.say(fmt::format("{} and {} removed, on {}", counted(record.views, "view"), counted(record.stores, "store"),
                          counted(record.nodes, "node")));
  if (record.stores == 0 && !options.request.all)
    context.say("hint: the content stays for the next job; --all removes it");
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.count("--emulate-nodes", "N", 1'000'000, options->emulated, "as with stage, for a trial");
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_unstage
}  // namespace

constexpr Verb unstage_verb{
    .name = "unstage",
    .summary = "remove staged datasets from the disks of the nodes of a job",
    .examples =
        "mpirun sabath unstage cosmoflow --to /local/$USER    the view goes, the content stays\n"
        "mpirun sabath unstage --all --to /local/$USER        all goes\n"
        "sabath gc --store /local/$USER/.sabath --max-size 500GB --now    content, but not too much",
    .details =
        "DIR is the directory that stage was given with --to. Each node's leader removes the view DIR/NAME and its "
        "plan "
        "file DIR/NAME.plan.json, which stage made, and nothing else: what is no view of "
        "SABATH is refused, on all nodes, before anything is removed. A node without it is fine, unless no node has "
        "it. "
        "--all is refused while a stage or a run uses the node's store. docs/jobs.md has examples for batch systems.",
    .declare = cmd_unstage::declare,
    .by_ranks = true,
};

}  // namespace sabath::cli
