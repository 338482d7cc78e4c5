#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/age.h"
#include "cli/show/render.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "sabath/apply.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_apply {

struct Options {
  std::string name, script;
  std::vector<std::string> arguments;
  std::optional<std::string> as, in_place, time;
  std::optional<std::uint64_t> threads, memory;
  std::string trust;
  bool no_fetch = false, force = false, dry_run = false;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

ApplyRequest request_of(const Context& context, const Options& options) {
  ApplyRequest request;
  request.name = options.name;
  request.script = options.script;
  request.arguments = options.arguments;
  request.as = options.as.value_or("");
  request.in_place = options.in_place.value_or("");
  request.threads = options.threads;
  request.memory_bytes = options.memory.value_or(0);
  request.time = parse_age(options.time, "--time").value_or(std::chrono::seconds(0));
  request.no_fetch = options.no_fetch;
  request.force = options.force;
  request.dry_run = options.dry_run;
  request.environment = context.environment;
  request.trust = options.trust;
  if (can_ask(context)) request.ask = [&](const std::string& about) { return ask_trust(context, request.name, about); };
  return request;
}

void tell_failures(const Context& context, const ApplyRecord& record) {
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < record.failures.size() && i < shown; ++i) {
    const ApplyFailure& failed = record.failures[i];
    context.warn(fmt::format("{}: {}", failed.path.empty() ? record.derivation.from : printable(failed.path, 4096),
                             failed.failure.message));
    for (const std::string& line : failed.last_lines) context.say("  | " + line);
    if (failed.last_lines.empty() && !failed.failure.hint.empty()) context.say("  " + failed.failure.hint);
  }
  if (record.failures.size() > shown) context.say(fmt::format("  and {} more", record.failures.size() - shown));
  context.say(fmt::format("done and kept: {} of {}; the same command goes on with the others",
                          record.processed + record.resumed, counted(record.inputs, "file")));
}

std::string summary(const ApplyRecord& record, bool dry) {
  const std::string what =
      fmt::format("{}: {} in {}", record.name, format_bytes(record.bytes), counted(record.files, "file"));
  if (record.was_there) return what + ", was there: nothing was done";
  if (dry) return fmt::format("{}: is not there; it would read {}", record.name, counted(record.inputs, "file"));
  std::string how = fmt::format(", made of {} in {}", record.inputs, format_duration(record.seconds));
  if (record.resumed > 0) how += fmt::format("; {} were done before", record.resumed);
  if (record.ranks > 1) how += fmt::format("; by {} ranks", record.ranks);
  return what + how;
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session, context.ranks);
  ApplyRecord record;
  {
    const auto progress = context.make_progress();
    record = apply(session, request_of(context, options), *progress, context.stop);
  }
  record.exit = context.signals.code_after(record.exit);
  if (!context.speaks()) return record.exit;
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  if (!record.failures.empty()) {
    tell_failures(context, record);
    return record.exit;
  }
  if (record.name.empty()) {
    context.say(fmt::format("{} is not here: the key of the new asset is not known before it is", options.name));
    return record.exit;
  }
  context.say(summary(record, options.dry_run));
  context.out.print((record.path.empty() ? record.name : record.path.native()) + "\n");
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("NAME", options->name, "the asset that is the input");
  set.argument("SCRIPT", options->script, "what is done to it: see `sabath supporting NAME`");
  set.arguments("ARGUMENT", options->arguments, false,
                "KEY=VALUE, of the script; num_threads=N: files at once, of each rank");
  set.option("--as", "NAME", options->as, "a name for the new asset (default: NAME+SCRIPT-KEY)");
  set.option("--in-place", "DIR", options->in_place,
             "a tree of NAME outside the store, which becomes one of the new asset; files that the script does not "
             "write stay, and are shared");
  set.count("-j,--threads", "N", 1024, options->threads, "as num_threads=N (default 1)");
  set.size("--memory", "SIZE", options->memory, "address space of each process of the recipe's script, e.g. 4G");
  set.option("--time", "TIME", options->time, "for each start of the recipe's script, e.g. 10m; then it is ended");
  set.choice("--trust", {"once", "commit", "origin"}, options->trust,
             "run a script that is not trusted yet: this time, always this code, or all of its origin (docs/trust.md)");
  set.flag("-n,--dry-run", options->dry_run, "say whether it is there, and touch nothing");
  set.flag("--no-fetch", options->no_fetch, "what the store lacks of NAME is an error, and not fetched");
  set.flag("-f,--force", options->force, "do the work again, even if it was done");
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_apply
}  // namespace

constexpr Verb apply_verb{
    "apply",
    "make a new asset of one that is here, by a script; asked again, it is there",
    "sabath apply cosmoflow gzip                       a new asset; its path is printed\n"
    "sabath apply cosmoflow gzip level=9 num_threads=8\n"
    "mpirun sabath apply cosmoflow gzip                the files are dealt to the ranks\n"
    "sabath apply mnist scale --in-place ./mnist       a tree of your own becomes one of the new asset\n"
    "sabath apply -n cosmoflow gzip                    is it there?",
    "The new asset is named by a key: the hash of the input's root, the script, its arguments and its tools' versions. "
    "It is listed, staged, run, exported and collected as any asset, and `sabath info --lineage` says how it came to "
    "be. Bytes of the input are never changed. A killed call goes on file by file. If the script fails for a file, the "
    "others are done and kept (exit code 11).",
    true,
    cmd_apply::declare,
    true,
};

}  // namespace sabath::cli
