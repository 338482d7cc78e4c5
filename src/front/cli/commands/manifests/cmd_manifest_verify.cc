#include <fmt/format.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/manifest.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_verify {

void tell(const Context& context, const ManifestVerifyRecord& record, bool allow_extra) {
  for (const auto& bad : record.bad) {
    const std::string place =
        bad.chunk ? fmt::format(": chunk {} at byte {}", *bad.chunk, *bad.chunk * chunk_size_bytes) : "";
    context.warn(fmt::format("{}{}: {}", printable(bad.path, 4096), place, bad.what));
  }
  for (const std::string& path : record.missing) context.warn(fmt::format("{}: missing", printable(path, 4096)));
  for (const std::string& path : record.extra) {
    if (!allow_extra) context.warn(fmt::format("{}: not in the manifest", printable(path, 4096)));
  }
}

int run(Context& context, const ManifestVerifyRequest& request) {
  Session session(context.configuration.session);
  const ManifestVerifyRecord record = manifest_verify(session, request, *context.make_progress(), context.stop);
  tell(context, record, request.allow_extra);
  if (context.presentation.json) context.out.record_text(to_json(record));
  const std::string directory = printable(request.path.native(), 4096);
  context.say(record.exit == 0 ? fmt::format("{}: {}, {}: verified", directory, counted(record.files, "file"),
                                             format_bytes(record.bytes))
                               : fmt::format("{}: {} bad, {} missing, {} extra", directory, record.bad.size(),
                                             record.missing.size(), record.extra.size()));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ManifestVerifyRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_manifest_verify
}  // namespace

constexpr Verb manifest_verify_verb{
    .name = "manifest verify",
    .summary = "compare a directory with a manifest",
    .examples =
        "sabath manifest verify data.manifest data/\n"
        "sabath manifest verify sha256:<root> /scratch/copy --allow-extra",
    .details =
        "Every bad chunk is named with its file, its number and its byte offset. Exit code 7 when content differs or "
        "there is more than the manifest names, 8 when a part is missing, 9 when all is.",
    .keeps_state = true,
    .declare = cmd_manifest_verify::declare,
};

}  // namespace sabath::cli
