#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/manifests.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_export {

struct Options {
  std::string manifest, metalink, links, bag;
  std::vector<std::string> urls;
};

ManifestExportRequest request_of(const Options& options) {
  using Form = ManifestExportRequest::Form;
  ManifestExportRequest request{.manifest = options.manifest, .output = {}, .urls = options.urls};
  int chosen = 0;
  for (const auto& [form, output] :
       {std::pair(Form::metalink, &options.metalink), {Form::links, &options.links}, {Form::bag, &options.bag}}) {
    if (output->empty()) continue;
    ++chosen;
    request.form = form;
    request.output = *output;
  }
  if (chosen == 1) return request;
  throw Error(FailureKind::usage, "manifest export needs one of --metalink FILE, --links FILE and --bag DIR");
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const ManifestExportRecord record = export_manifest(session, request_of(options), unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  context.say(fmt::format("{}: {}", record.written.string(), counted(record.files, "file")));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("MANIFEST", options->manifest, "an asset in the store, sha256:HEX of the store, or a manifest file");
  set.option("--metalink", "FILE", options->metalink, "write a metalink (RFC 5854)");
  set.option("--links", "FILE", options->links, "write the headers Link and Digest of each file (RFC 6249)");
  set.option("--bag", "DIR", options->bag, "write a BagIt bag (RFC 8493)");
  set.option("--url", "URL", options->urls, "the files stand at URL + path; again for more mirrors");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_manifest_export
}  // namespace

constexpr Verb manifest_export_verb{
    "manifest export",
    "write what a manifest names as a metalink, as Link headers, or as a bag",
    "sabath manifest export mini --metalink mini.meta4 --url https://a.example/mini/\n"
    "sabath manifest export mini --links mini.txt --url https://b.example/mini/   what a server says\n"
    "sabath manifest export mini --bag mini-bag/\n"
    "sabath manifest export mini --bag mini-bag/ --url https://a.example/mini/   without payload",
    "The content must be in the store: it is read, checked and hashed. Other tools read all three; `sabath fetch` does "
    "as well, by a file_list whose URL is the metalink's, or metalink+ and that of the file whose server sends the "
    "headers, or that of the bag's bagit.txt.",
    true,
    cmd_manifest_export::declare,
};

}  // namespace sabath::cli
