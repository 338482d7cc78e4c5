#include <fmt/format.h>
#include <unistd.h>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/verbs/want.h"

namespace sabath::cli {
namespace {
namespace cmd_want {

// A terminal is spared the bytes of a list.
void print_list(Context& context, const std::string& list) {
  if (::isatty(STDOUT_FILENO) == 1) {
    throw Error(FailureKind::usage, "standard output is a terminal", "-o FILE, or a pipe");
  }
  context.out.print(list);
}

int run(Context& context, WantRequest request) {
  const std::string output = request.file.string();
  const bool standard = output == "-";
  if (standard) request.file.clear();
  Session session(context.configuration.session);
  NoEvents unheard;
  const WantRecord record = want(session, request, unheard, context.stop);
  if (standard) {
    print_list(context, record.list);
  } else if (context.presentation.json) {
    context.out.record_text(to_json(record));
  }
  context.say(record.missing
                  ? fmt::format("{} pieces are missing; take {} to a machine that has them: sabath export --want",
                                record.pieces, output)
                  : fmt::format("not all manifests are here, so {} says what is: {} pieces", output, record.pieces));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<WantRequest>();
  declare_fields(set, *request);
  return [request](Context& context) {
    if (request->file.empty()) throw Error(FailureKind::usage, "a want-list needs a file", "-o FILE");
    return run(context, *request);
  };
}

}  // namespace cmd_want
}  // namespace

constexpr Verb want_verb{
    .name = "export --missing",
    .summary = "write a list of what is missing here, for `export --want` elsewhere",
    .examples =
        "sabath export --missing climate -o climate.want    here, without a network\n"
        "sabath export --want climate.want -o climate.tar   there\n"
        "sabath import climate.tar                          here again",
    .details =
        "Where the manifest of an asset is here, the list names the chunks that are missing; else it names what the "
        "store has, so that only the rest is sent. 16 bytes for each chunk of 4 MiB and each smaller file.",
    .declare = cmd_want::declare,
};

}  // namespace sabath::cli
