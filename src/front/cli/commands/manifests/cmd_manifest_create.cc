#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/verbs/manifest.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_create {

void print(Context& context, const ManifestCreateRecord& record) {
  context.out.print(record.manifest.prefixed() + "\n");
  context.say(fmt::format("{}: {}, {}", record.file.string(), counted(record.totals.files, "file"),
                          format_bytes(record.totals.bytes)));
}

}  // namespace cmd_manifest_create
}  // namespace

constexpr Verb manifest_create_verb{
    .name = "manifest create",
    .summary = "hash a directory into a manifest file",
    .examples =
        "sabath manifest create data/ -o data.manifest     prints sha256:<root>\n"
        "sabath fetch mine --manifest data.manifest        pins a fetch to it",
    .details =
        "The root names regular files, directories, relative symlinks and executable bits; times and owners do not "
        "count, so the same content gives the same root everywhere. A device, a socket or a symlink that leaves PATH "
        "is refused.",
    .keeps_state = true,
    .declare = declare<manifest_create, cmd_manifest_create::print>,
};

}  // namespace sabath::cli
