#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/render.h"
#include "cli/verbs.h"
#include "sabath/bundles.h"
#include "sabath/error.h"
#include "verbs/records.h"

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
  if (context.presentation.json && !standard) context.out.record(json_of(record));
  context.say(fmt::format("{} of content in {}", format_bytes(record.bytes), counted(record.members, "member")));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ExportRequest>();
  set.arguments("NAME", request->names, false,
                "an asset of the store, or its root as sha256:<hex>; none: as --want says");
  set.option("-o,--output", "FILE", request->output, "the bundle to write, - for standard output");
  set.option("--want", "LIST", request->want, "only what this want-list asks for");
  set.option("--have", "LIST", request->have, "not what this list says is there");
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_export
}  // namespace

constexpr Verb export_verb{
    "export",
    "write assets into one tar, for a machine without a network",
    "sabath export climate -o climate.tar\n"
    "sabath export --want climate.want -o delta.tar     only what the other side lacks\n"
    "sabath export climate -o - | ssh other sabath import -",
    "Each chunk is hashed as it is read. docs/bundles.md is the format. A bundle may be compressed on its way (gzip, "
    "zstd, "
    "xz, bzip2): `import` reads that too.",
    false,
    cmd_export::declare,
};

}  // namespace sabath::cli
