#include <fmt/format.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/verbs/export.h"

namespace sabath::cli {
namespace {
namespace cmd_export {

int run(Context& context, ExportRequest& request) {
  const bool standard = request.output == "-";
  if (standard && ::isatty(STDOUT_FILENO) == 1) {
    throw Error(FailureKind::usage, "standard output is a terminal", "-o FILE, or a pipe");
  }
  if (standard) request.descriptor = STDOUT_FILENO;
  Session session(context.configuration.session);
  const ExportRecord record = export_bundle(session, request, *context.make_progress(), context.stop);
  if (context.presentation.json && !standard) context.out.record_text(to_json(record));
  context.say(fmt::format("{} of content in {}", format_bytes(record.bytes), counted(record.members, "member")));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ExportRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_export
}  // namespace

constexpr Verb export_verb{
    .name = "export",
    .summary = "write assets into one file, for a machine without a network",
    .examples =
        "sabath export climate -o climate.tar\n"
        "sabath export --want climate.want -o delta.tar     only what is missing there\n"
        "sabath export climate -o - | ssh other sabath import -",
    .details =
        "Each chunk is hashed as it is read. docs/bundles.md is the format. A bundle may be compressed on its way "
        "(gzip, zstd, xz, bzip2): `import` reads that too.",
    .declare = cmd_export::declare,
};

}  // namespace sabath::cli
