#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "hdf5/own_process.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_hash {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file;
};

std::string_view word(char kind) {
  switch (kind) {
    case 'g':
      return "group";
    case 'd':
      return "dataset";
    case 't':
      return "type";
    case 'a':
      return "alias";
    case 'l':
      return "soft_link";
    default:
      return "external_link";
  }
}

Json record_of(const LogicalHash& hash) {
  Json record{{"hash", hash.text()}, {"bytes", hash.bytes}, {"objects", Json::array()}};
  for (const ObjectHash& object : hash.objects) {
    const bool hashed = object.kind == 'g' || object.kind == 'd' || object.kind == 't';
    record["objects"].push_back({{"path", printable(object.path, 65536)},
                                 {"kind", word(object.kind)},
                                 {"hash", hashed ? Json(object.hash.hex()) : Json(nullptr)},
                                 {"bytes", object.bytes}});
  }
  return record;
}

int run(Context& context, const Options& options) {
  const bool json = context.presentation.json;
  const LogicalHash hash = Hdf5(context.configuration.session.program).hash(options.file, json, context.stop);
  if (!json) {
    context.out.print(fmt::format("{}  {}\n", hash.text(), printable(options.file, 4096)));
    return 0;
  }
  Json record{{"schema", 1}, {"file", options.file}};
  record.update(record_of(hash));
  record["exit"] = 0;
  context.out.record(record);
  return 0;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("FILE", options->file, "an HDF5 file");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_hdf5_hash
}  // namespace

constexpr Verb hdf5_hash_verb{
    "hdf5 hash",
    "hash the data of an HDF5 file, not its bytes",
    "sabath hdf5 hash univ.hdf5            hdf5-v1:<64 digits>  univ.hdf5\n"
    "sabath hdf5 hash univ.hdf5 --json     also the hash of each object: where two files differ",
    "Equal for equal groups, links, attributes, types, shapes and values, whatever the chunks, filters, byte order, "
    "times, order of creation, or the version of HDF5 that wrote them; docs/hdf5.md defines it byte by byte. It names "
    "data beside the hash of the bytes, and never in place of it.",
    false,
    cmd_hdf5_hash::declare,
};

}  // namespace sabath::cli
