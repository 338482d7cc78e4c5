#include <fmt/format.h>

#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/hdf5.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_hash {

void print(Context& context, const Hdf5HashRecord& record) {
  context.out.print(fmt::format("{}  {}\n", record.hash, printable(record.file.native(), 4096)));
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<Hdf5HashRequest>();
  declare_fields(set, *request);
  return [request](Context& context) {
    request->objects = context.presentation.json;
    return perform<hdf5_hash>(context, *request, print);
  };
}

}  // namespace cmd_hdf5_hash
}  // namespace

constexpr Verb hdf5_hash_verb{
    .name = "hdf5 hash",
    .summary = "hash the data of an HDF5 file, not its bytes",
    .examples =
        "sabath hdf5 hash univ.hdf5            hdf5-v1:<64 digits>  univ.hdf5\n"
        "sabath hdf5 hash univ.hdf5 --json     also the hash of each object: where two files differ",
    .details =
        "Equal for equal groups, links, attributes, types, shapes and values, with any chunks, filters, byte order, "
        "times, order of creation, or the version of HDF5 that wrote them; docs/hdf5.md defines it byte by byte. It "
        "names data beside the hash of the bytes, and never instead of it.",
    .declare = cmd_hdf5_hash::declare,
};

}  // namespace sabath::cli
