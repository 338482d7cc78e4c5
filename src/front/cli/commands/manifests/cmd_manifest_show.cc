#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/manifest.h"
#include "verbs/manifests/manifest_fields.h"

namespace sabath::cli {
namespace {
namespace cmd_manifest_show {

std::string line_of(const ManifestEntry& entry) {  // "f      1234  <64 hex>  path"
  const std::string path = printable(entry.path, 4096);
  if (!entry.digest) return fmt::format("l {:>14}  {:<64}  {} -> {}", "", "", path, printable(entry.target, 4096));
  const char letter = entry.type == "executable" ? 'x' : entry.type.front();
  return fmt::format("{} {:>14}  {}  {}{}", letter, entry.size, entry.digest->hex(), path, letter == 'd' ? "/" : "");
}

class Listing {
 public:
  explicit Listing(Output& out) : out_(out) {}

  void begin(const ManifestShowRecord& head) {
    if (begun_) return;
    begun_ = true;
    out_.print(fmt::format("manifest     {}\nfiles        {}\ndirectories  {}\nsymlinks     {}\nbytes        {}\n",
                           head.manifest.prefixed(), head.totals.files, head.totals.directories, head.totals.symlinks,
                           head.totals.bytes));
    if (head.derived) {
      out_.print(fmt::format("derived      from {} {}\n             by {}\n", printable(head.derived->from),
                             head.derived->input.prefixed(), printable(head.derived->script)));
    }
    out_.print("\n");
  }
  void add(const ManifestShowRecord& head, const ManifestEntry& entry) {
    begin(head);
    out_.print(line_of(entry) + "\n");
    if (!entry.chunks) return;
    std::uint64_t offset = 0;
    for (const Sha256& chunk : *entry.chunks) {
      out_.print(fmt::format("    {:>14}  {}\n", offset, chunk.hex()));
      offset += chunk_size_bytes;
    }
  }

 private:
  Output& out_;
  bool begun_ = false;
};

int run(Context& context, ManifestShowRequest request) {
  const bool json = context.presentation.json;
  Listing listing(context.out);
  LongRecord text(context.out);
  request.on_entry = [&](const ManifestShowRecord& head, const ManifestEntry& entry) {
    json ? text.add(record_json(head), element_json(entry)) : listing.add(head, entry);
  };
  Session session(context.configuration.session);
  NoEvents unheard;
  const ManifestShowRecord record = manifest_show(session, request, unheard, context.stop);
  json ? text.end(record_json(record)) : listing.begin(record);
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<ManifestShowRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_manifest_show
}  // namespace

constexpr Verb manifest_show_verb{
    .name = "manifest show",
    .summary = "print what a manifest names",
    .examples =
        "sabath manifest show data.manifest\n"
        "sabath manifest show mnist --chunks\n"
        "sabath manifest show sha256:<root> --json",
    .details = "A line has the type (f file, x executable, d directory, l symlink), the size, the digest and the path.",
    .declare = cmd_manifest_show::declare,
};

}  // namespace sabath::cli
