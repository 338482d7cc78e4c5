// NAME.hdf5 -> NAME_data.npy and NAME_label.npy: one dataset each, little-endian and in C order.
#include <array>

#include "builtin/call.h"
#include "builtin/extracted.h"
#include "formats/npy.h"

namespace sabath {
namespace {

constexpr std::array<BuiltinArgument, 4> to_npy_arguments{{
    {"data", BuiltinArgument::Type::text, "full", "the dataset, or a selection of it: full[:,:,:,0]"},
    {"label", BuiltinArgument::Type::text, "unitPar", "a second dataset, for a file of its own; empty: none"},
    {"data_ending", BuiltinArgument::Type::text, "_data.npy", "what the name of the first file ends with"},
    {"label_ending", BuiltinArgument::Type::text, "_label.npy", "what the name of the second file ends with"},
}};

BuiltinResult to_npy(const BuiltinCall& call, Workbench& bench) {
  BuiltinResult result;
  const std::string stem = conversion::stem_of(call);
  for (const char* part : {"data", "label"}) {
    const std::string& selection = conversion::text_of(call, part);
    if (selection.empty()) continue;
    const Extracted what = conversion::describe_selection(call, bench, selection);
    result.files.push_back(stem + conversion::text_of(call, std::string(part) + "_ending"));
    NewFile output(call.output / result.files.back());
    const std::string header = npy_header(what.descr, what.shape);
    output.write(header);
    conversion::extract_selection(call, bench, selection, output, header.size());
    result.bytes_read += what.bytes;
    result.bytes_written += output.finish();
  }
  return result;
}

}  // namespace

const Builtin hdf5_to_npy_builtin{"hdf5-to-npy",
                                  "take a dataset of each HDF5 file, and its labels, as NumPy arrays",
                                  "**/*.h*5",
                                  1,
                                  to_npy_arguments,
                                  to_npy,
                                  {}};

}  // namespace sabath
