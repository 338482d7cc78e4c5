#include <fmt/format.h>

#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/hdf5.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_select {

int run(Context& context, const Hdf5SelectRequest& request) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const Hdf5SelectRecord record = hdf5_select(session, request, unheard, context.stop);
  for (const std::string& left : record.left_out) context.warn(fmt::format("left out {}", left));
  if (context.presentation.json) {
    context.out.record_text(to_json(record));
    return record.exit;
  }
  const std::size_t files = record.files.size();
  context.say(fmt::format("{}: {}{} selected of {} read, in {:.2f} s", printable(record.out.native(), 4096),
                          files == 1 ? "" : fmt::format("{} files, ", files), format_bytes(record.bytes_selected),
                          format_bytes(record.bytes_read), record.seconds));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto request = std::make_shared<Hdf5SelectRequest>();
  declare_fields(set, *request);
  return [request](Context& context) { return run(context, *request); };
}

}  // namespace cmd_hdf5_select
}  // namespace

constexpr Verb hdf5_select_verb{
    .name = "hdf5 select",
    .summary = "make an HDF5 file of a part of another",
    .examples =
        "sabath hdf5 select univ.hdf5 'full[:,:,:,0]' physPar -o today.hdf5\n"
        "sabath hdf5 select univ.hdf5 full unitPar -o a1 --blocks 128,128,128,4   a1/a1_000.hdf5, ...\n"
        "sabath hdf5 select big.h5 'climate/data[0:100]' -o part.h5 --filter gzip",
    .details =
        "An index means what it means to h5py: a number drops its axis, ranges may have a step, '...' means all "
        "other axes. Attributes are kept, what was not selected is left out, and the attribute sabath_selection says "
        "what was. The same selection of the same data gives the same bytes. FILE is read once, in contiguous pieces.",
    .keeps_state = true,
    .declare = cmd_hdf5_select::declare,
};

}  // namespace sabath::cli
