#include <fmt/format.h>

#include <cstdio>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/apply.h"

namespace sabath::cli {
namespace {
namespace cmd_apply {

struct Options {
  ApplyRequest request;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

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

int run(Context& context, ApplyRequest& request) {
  request.environment = context.environment;
  if (can_ask(context)) request.ask = [&](const std::string& about) { return ask_trust(context, request.name, about); };
  Session session(context.configuration.session, context.ranks);
  ApplyRecord record;
  {
    const auto progress = context.make_progress();
    record = apply(session, request, *progress, context.stop);
  }
  record.exit = context.signals.code_after(record.exit);
  if (!context.speaks()) return record.exit;
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
    return record.exit;
  }
  if (!record.failures.empty()) {
    tell_failures(context, record);
    return record.exit;
  }
  if (record.name.empty()) {
    context.say(fmt::format("{} is not here: the key of the new asset is not known before it is", request.name));
    return record.exit;
  }
  context.say(summary(record, request.dry_run));
  context.out.print((record.path.empty() ? record.name : record.path.native()) + "\n");
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  return [options](Context& context) { return run(context, options->request); };
}

}  // namespace cmd_apply
}  // namespace

constexpr Verb apply_verb{
    .name = "apply",
    .summary = "derive a new asset with a script; a repeated call finds the result",
    .examples =
        "sabath apply cosmoflow gzip                       a new asset; its path is printed\n"
        "sabath apply cosmoflow gzip level=9 num_threads=8\n"
        "mpirun sabath apply cosmoflow gzip                the files are dealt to the ranks\n"
        "sabath apply mnist scale --in-place ./mnist       a tree of your own becomes one of the new asset\n"
        "sabath apply -n cosmoflow gzip                    is it there?",
    .details =
        "The new asset is named by a key: the hash of the input's root, the script, its arguments and its tools' "
        "versions. It is listed, staged, run, exported and collected as any asset, and `sabath info --lineage` says "
        "how it came to be. Bytes of the input are never changed. A killed call goes on file by file. If the script "
        "fails for a file, the others are done and kept (exit code 11).",
    .keeps_state = true,
    .declare = cmd_apply::declare,
    .by_ranks = true,
};

}  // namespace sabath::cli
