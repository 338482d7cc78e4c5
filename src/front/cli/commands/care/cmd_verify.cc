#include <fmt/format.h>
#include <utility>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/verify.h"

namespace sabath::cli {
namespace {
namespace cmd_verify {

struct Options {
  VerificationRequest request;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

void tell(const Context& context, const VerifiedAsset& asset) {
  const std::string& name = asset.name;
  std::size_t chunks = 0;
  for (const VerifyFinding& bad : asset.bad) {
    if (bad.removed_link) {
      if (context.presentation.verbose) context.say(fmt::format("note: {}: {}", printable(bad.path, 4096), bad.what));
      continue;
    }
    const std::string place = bad.path.empty() ? bad.digest.hash.prefixed() : bad.path;
    context.warn(fmt::format("{}: chunk {} at byte {}: {}", printable(place, 4096), bad.chunk, bad.offset, bad.what));
    ++chunks;
  }
  for (const std::string& path : asset.missing_paths) context.warn(fmt::format("{}: missing", printable(path, 4096)));
  for (const StrayFile& stray : asset.strays) {
    context.say(fmt::format("note: {}, of user {}, is no object: it was left where it is", printable(stray.path, 4096),
                            stray.owner));
  }
  std::string result = "verified";
  if (!asset.bad.empty() || asset.missing > 0) {
    result = fmt::format("{}, {} missing", counted(chunks, "bad chunk"), counted(asset.missing, "file"));
    if (asset.repaired.empty())
      context.say(
          fmt::format("hint: {0}`sabath verify --repair{1}` fetches what a source has; of the rest "
                      "`sabath path {2}` says how it comes back",
                      chunks > 0 ? "bad content was put aside; " : "", name.empty() ? "" : " " + shell_word(name),
                      name.empty() ? "NAME" : shell_word(name)));
  }
  if (asset.remembered > 0)
    result += fmt::format("; {} read lately, and not again", counted(asset.remembered, "file was", "files were"));
  context.say(fmt::format(
      "{}: {}, {} read{}: {}", name.empty() ? "the store" : printable(name),
      counted(asset.files, "file") + (asset.copies > 0 ? " and " + counted(asset.copies, "copy", "copies") : ""),
      format_bytes(asset.bytes_read), asset.quick > 0 ? fmt::format(", {} compared by XXH3", asset.quick) : "",
      result));
  for (const auto& repaired : asset.repaired) {
    if (repaired.failures.empty())
      context.say(
          fmt::format("{}: repaired, {} fetched", printable(repaired.name), format_bytes(repaired.fetched_bytes)));
    for (const auto& failure : repaired.failures)
      context.warn(fmt::format("{}: not repaired: {}", printable(repaired.name), failure));
  }
  if (asset.unmended > 0 && !asset.repaired.empty())
    context.warn(
        fmt::format("{} findings could not be repaired: no recipe that is known here has them", asset.unmended));
}

int run(Context& context, Options& options) {
  VerificationRequest& request = options.request;
  Session session(context.configuration.session, context.ranks);
  VerificationRecord record;
  // One by one: the findings of one asset are printed, even if the next cannot be read.
  const auto verify_next = [&] {
    VerificationRecord one = verify(session, request, *context.make_progress(), context.stop);
    for (const auto& asset : one.assets) tell(context, asset);
    append(record, std::move(one));
  };
  const auto names = std::exchange(request.names, {});
  if (names.empty()) verify_next();
  for (const std::string& name : names) {
    request.names = {name};
    verify_next();
  }
  if (context.presentation.json) context.out.record_text(to_json(record));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  declare_fields(set, options->request);
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_verify
}  // namespace

constexpr Verb verify_verb{
    .name = "verify",
    .summary = "read stored content again and compare every hash",
    .examples =
        "sabath verify                    the whole store\n"
        "sabath verify mnist              one asset\n"
        "sabath verify --quick            a look that costs little more than reading\n"
        "sabath verify --within 7d --limit-rate 200M   a bit each night\n"
        "sabath verify --repair           and fetch again what is bad\n"
        "mpirun sabath verify             each rank reads its part of the store\n"
        "sabath verify --json | jq '.assets[].bad'",
    .details =
        "Every bad chunk is named with its file, its number and its byte offset, and its object is put aside so that "
        "nothing reads it; --repair, or fetch, gets it again. Every byte is read, unless --within says otherwise. Exit "
        "code 0 when all is right, or was put right by --repair; 7 when content is bad, 8 when a part is missing, 9 "
        "when all is.",
    .keeps_state = true,
    .declare = cmd_verify::declare,
    .by_ranks = true,
};

}  // namespace sabath::cli
