#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "comm/agree.h"
#include "machine/walltime.h"
#include "sabath/session.h"

namespace sabath::cli {
namespace {
namespace cmd_fetch {

struct Options {
  FetchRequest request;
  std::optional<std::uint64_t> lanes, rate_limit;
  std::vector<std::string> rewrites;
  std::optional<std::string> deadline;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

std::pair<std::string, std::string> parse_rewrite(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw Error(FailureKind::usage, fmt::format("--rewrite {} is no rule", text),
                "a rule is PREFIX=PREFIX, e.g. https://portal.example/=http://127.0.0.1:8000/");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string summary(const AssetRecord& asset, bool dry_run) {
  if (dry_run) {
    const std::string size = asset.to_fetch_bytes ? format_bytes(*asset.to_fetch_bytes) : "an unknown number of bytes";
    const bool whole = asset.to_fetch_bytes && *asset.to_fetch_bytes == 0;
    return fmt::format(
        "{}: would fetch {}{}{}", asset.name, size,
        asset.reused_bytes() > 0 ? fmt::format(", {} are here", format_bytes(asset.reused_bytes())) : "",
        whole ? "" : fmt::format("; no source was asked: `sabath plan {}` asks them", shell_word(asset.name)));
  }
  std::string moved = asset.fetched_bytes == 0 ? "nothing moved" : format_bytes(asset.fetched_bytes) + " fetched";
  if (asset.fetched_bytes > asset.bytes) moved += " (of some parts twice, or of archives that hold more)";
  if (asset.reused_bytes() > 0) moved += ", " + format_bytes(asset.reused_bytes()) + " were here";
  const std::string part = asset.selection.empty() ? "" : ", a part of it";
  return fmt::format("{}{}: {} in {}, {} in {}, verified ({})", asset.name, part, format_bytes(asset.bytes),
                     counted(asset.files, "file"), moved, format_duration(asset.seconds), asset.trusted_by);
}

// A script takes the last line: a path, or nothing where there is none.
void print_path(Context& context, const AssetRecord& asset) {
  if (asset.packed) {
    context.say(fmt::format("{} is kept in packs: `sabath view {}` makes its tree, which takes {}, and prints its path",
                            printable(asset.name), printable(asset.name), counted(asset.view_inodes, "inode")));
  }
  if (!asset.path.empty() || asset.packed) context.out.print(asset.path + "\n");
}

void report_failures(Context& context, const AssetRecord& asset) {
  constexpr std::size_t shown = 20;
  const bool told = context.signals.received() != 0 && !context.presentation.quiet;  // by the progress
  for (std::size_t i = 0; i < asset.failures.size() && i < shown; ++i) {
    Failure failure = asset.failures[i].failure;
    if (told && failure.kind == FailureKind::interrupted) continue;
    if (asset.failures[i].path != asset.name)
      failure.message = fmt::format("{}: {}: {}", asset.name, asset.failures[i].path, failure.message);
    const std::string text = render_failure(failure, context.presentation.verbose, context.presentation.color);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  if (asset.failures.size() > shown) {
    context.say(fmt::format("... and {} more; all are in the record of --json", asset.failures.size() - shown));
  }
}

int run(Context& context, Options& options) {
  SessionSettings settings = context.configuration.session;
  if (options.deadline) settings.deadline = deadline_of(context.environment, options.deadline);
  if (options.lanes) settings.lanes = static_cast<unsigned>(*options.lanes);
  if (options.rate_limit) settings.limit_rate = *options.rate_limit;
  std::vector<std::pair<std::string, std::string>> rules;
  for (const auto& text : options.rewrites) rules.push_back(parse_rewrite(text));
  settings.rewrites.insert(settings.rewrites.begin(), rules.begin(), rules.end());

  FetchRecord record;
  {
    const auto progress = context.make_progress();
    std::optional<Session> session;
    const auto open = [&] { session.emplace(settings, context.ranks); };
    context.ranks == nullptr ? open() : run_agreed(*context.ranks, open);
    record = session->fetch(options.request, *progress, context.stop);
  }
  record.exit = context.signals.code_after(record.exit);
  for (const auto& asset : record.assets) {
    if (asset.failures.empty()) context.say(summary(asset, options.request.dry_run));
    report_failures(context, asset);
  }
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
  } else {
    for (const auto& asset : record.assets) print_path(context, asset);
  }
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  options->request.view = false;
  declare_fields(set, options->request);
  set.count("--lanes", "N", 256, options->lanes, "connections at once, at most (default: as many as help)");
  set.size("--limit-rate", "RATE", options->rate_limit,
           "bytes a second at most, all lanes and ranks together, e.g. 20M");
  set.option(
      "--deadline", "TIME", options->deadline,
      "when this process will be ended: 2h30m, 01:30:00, 2026-11-21T18:00, or none (default: as the batch system "
      "says)");
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  set.option("--rewrite", "FROM=TO", options->rewrites, "URLs that begin with FROM are read from TO");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_fetch
}  // namespace

constexpr Verb fetch_verb{
    .name = "fetch",
    .summary = "bring an asset into the store, verified, and print its path",
    .examples =
        "sabath fetch cosmoflow                        the model and its default dataset\n"
        "sabath fetch -d ptychonn_20191008_39          a dataset alone\n"
        "sabath fetch -d one --path ~/Downloads/f.bin  from a file that is here already\n"
        "sabath fetch https://a.example/f.bin          a URL: its recipe is written, too\n"
        "sabath fetch hf://datasets/OWNER/NAME         a hub, a bucket, a record: `sabath fetchers`\n"
        "sabath fetch cosmoflow --dry-run              what would move\n"
        "sabath fetch cosmoflow --sample 64            the first 64 samples, in a view of their own\n"
        "p=$(sabath fetch -d one --view | tail -1)     the last line is its path\n"
        "sabath fetch -d two --rewrite https://portal.example/=http://mirror.local/",
    .details =
        "An interrupted fetch goes on where it stopped when the same command is given again. A second fetch of what is "
        "there "
        "asks no server. From 1,000 small files on an asset is kept in packs: then the last line is empty, and a "
        "message "
        "names the command that makes its tree and the inodes that the tree takes; --view makes it at once. Exit "
        "codes: "
        "docs/exit-codes.md.",
    .keeps_state = true,
    .declare = cmd_fetch::declare,
    .by_ranks = true,
};

}  // namespace sabath::cli
