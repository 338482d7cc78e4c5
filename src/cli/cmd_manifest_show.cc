#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/manifest_entry.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_show {

using Json = nlohmann::ordered_json;

struct Options {
  std::string manifest;
  bool chunks = false;
};

// Written entry by entry: a manifest of a million files is not held in memory as JSON.
void show_record(Context& context, const Manifest& manifest, bool chunks) {
  const Totals totals = manifest.totals();
  const Json head{{"schema", 1},
                  {"manifest", manifest.root().prefixed()},
                  {"files", totals.files},
                  {"directories", totals.directories},
                  {"symlinks", totals.symlinks},
                  {"bytes", totals.bytes}};
  std::string text = head.dump();
  text.pop_back();
  context.out.begin_record(text + ",\"entries\":[");
  bool first = true;
  manifest.for_each([&](const Entry& entry) {
    Json record = entry_record(entry);
    if (chunks && entry.is_file()) {
      record["chunks"] = Json::array();
      for (const Sha256& chunk : manifest.chunks(entry)) record["chunks"].push_back(chunk.hex());
    }
    if (!first) context.out.print(",");
    context.out.print(record.dump());
    first = false;
  });
  context.out.print("],\"exit\":0}\n");
}

void show_text(Context& context, const Manifest& manifest, bool chunks) {
  const Totals totals = manifest.totals();
  context.out.print(
      fmt::format("manifest     {}\nfiles        {}\ndirectories  {}\nsymlinks     {}\nbytes        {}\n\n",
                  manifest.root().prefixed(), totals.files, totals.directories, totals.symlinks, totals.bytes));
  manifest.for_each([&](const Entry& entry) {
    context.out.print(entry_line(entry) + "\n");
    if (!chunks || !entry.is_file()) return;
    std::uint64_t offset = 0;
    for (const Sha256& chunk : manifest.chunks(entry)) {
      context.out.print(fmt::format("    {:>14}  {}\n", offset, chunk.hex()));
      offset += chunk_size_bytes;
    }
  });
}

int run(Context& context, const Options& options) {
  const Manifest manifest = find_manifest(options.manifest, context.configuration.session);
  manifest.check();  // before the first line: half a listing of a damaged manifest would be believed
  context.presentation.json ? show_record(context, manifest, options.chunks)
                            : show_text(context, manifest, options.chunks);
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("MANIFEST", options->manifest, "a manifest file, an asset in the store, or sha256:HEX of the store");
  set.flag("--chunks", options->chunks, "also the byte offset and hash of each chunk");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_manifest_show
}  // namespace

constexpr Verb manifest_show_verb{
    "manifest show",
    "print what a manifest names",
    "sabath manifest show data.manifest\n"
    "sabath manifest show cosmoflow_mini --chunks\n"
    "sabath manifest show sha256:<root> --json",
    "A line has the type (f file, x executable, d directory, l symlink), the size, the digest and the path.",
    false,
    cmd_manifest_show::declare,
};

}  // namespace sabath::cli
