#include <fmt/format.h>

#include "base/counted.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/verbs/manifest.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_export {

void print(Context& context, const ManifestExportRecord& record) {
  context.say(fmt::format("{}: {}", record.written.string(), counted(record.files, "file")));
}

}  // namespace cmd_manifest_export
}  // namespace

constexpr Verb manifest_export_verb{
    .name = "manifest export",
    .summary = "write what a manifest names as a metalink, as Link headers, or as a bag",
    .examples =
        "sabath manifest export mini --metalink mini.meta4 --url https://a.example/mini/\n"
        "sabath manifest export mini --links mini.txt --url https://b.example/mini/   what a server says\n"
        "sabath manifest export mini --bag mini-bag/\n"
        "sabath manifest export mini --bag mini-bag/ --url https://a.example/mini/   without payload",
    .details =
        "The content must be in the store: it is read, checked and hashed. Other tools read all three; `sabath fetch` "
        "does as well, by a file_list whose URL is the metalink's, or metalink+ and that of the file whose server "
        "sends the headers, or that of the bag's bagit.txt.",
    .keeps_state = true,
    .declare = declare<manifest_export, cmd_manifest_export::print>,
};

}  // namespace sabath::cli
