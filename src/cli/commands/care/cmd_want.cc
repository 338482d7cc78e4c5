#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/want.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_want {

struct Options {
  std::vector<std::string> names;
  std::string output;
};

// A terminal is spared the bytes of a list.
void print_list(Context& context, const std::string& list) {
  if (::isatty(STDOUT_FILENO) == 1) {
    throw Error(FailureKind::usage, "standard output is a terminal", "-o FILE, or a pipe");
  }
  context.out.print(list);
}

int run(Context& context, const Options& options) {
  const bool standard = options.output == "-";
  Session session(context.configuration.session);
  NoEvents unheard;
  const WantRecord record = want(session, {options.names, standard ? "" : options.output}, unheard, context.stop);
  if (standard) {
    print_list(context, record.list);
  } else if (context.presentation.json) {
    context.out.record(json_of(record));
  }
  context.say(
      record.missing
          ? fmt::format("{} pieces are missing; take {} to a machine that has them: sabath export --want",
                        record.pieces, options.output)
          : fmt::format("not all manifests are here, so {} says what is: {} pieces", options.output, record.pieces));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, true, "an asset, or its root as sha256:<hex>");
  set.option("-o,--output", "FILE", options->output, "the want-list to write, - for standard output");
  return [options](Context& context) {
    if (options->output.empty()) throw Error(FailureKind::usage, "where the want-list goes is not said", "-o FILE");
    return run(context, *options);
  };
}

}  // namespace cmd_want
}  // namespace

constexpr Verb want_verb{
    "want",
    "say what this store lacks of an asset, for `sabath export` elsewhere",
    "sabath want climate -o climate.want             here, without a network\n"
    "sabath export --want climate.want -o climate.tar   there\n"
    "sabath import climate.tar                       here again",
    "Where the manifest of an asset is here, the list names the chunks that are missing; else it names what the store "
    "has, "
    "so that only the rest is sent. 16 bytes for each chunk of 4 MiB and each smaller file.",
    false,
    cmd_want::declare,
};

}  // namespace sabath::cli
