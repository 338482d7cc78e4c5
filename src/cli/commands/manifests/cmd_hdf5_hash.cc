#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "sabath/hdf5.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_hash {

struct Options {
  std::string file;
};

int run(Context& context, const Options& options) {
  const bool json = context.presentation.json;
  Session session(context.configuration.session);
  NoEvents unheard;
  const Hdf5HashRecord record = hdf5_hash(session, {.file = options.file, .objects = json}, unheard, context.stop);
  if (json)
    context.out.record(json_of(record));
  else
    context.out.print(fmt::format("{}  {}\n", record.hash, printable(options.file, 4096)));
  return record.exit;
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
    "Equal for equal groups, links, attributes, types, shapes and values, with any chunks, filters, byte order, "
    "times, order of creation, or the version of HDF5 that wrote them; docs/hdf5.md defines it byte by byte. It names "
    "data beside the hash of the bytes, and never instead of it.",
    false,
    cmd_hdf5_hash::declare,
};

}  // namespace sabath::cli
