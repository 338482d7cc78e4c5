// NAME.hdf5 -> NAME_000.hdf5, NAME_001.hdf5, ...: one dataset cut into blocks, others whole in each file. The order and
// the numbers are those of the CosmoFlow benchmark's preprocessing (docs/hdf5.md).
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "builtin/call.h"
#include "sabath/error.h"

namespace sabath {
namespace {

constexpr std::array<BuiltinArgument, 4> blocks_arguments{{
    {"dataset", BuiltinArgument::Type::text, "full", "the dataset that is cut, or a selection of it: full[:,:,:,0:1]"},
    {"keep", BuiltinArgument::Type::text, "unitPar", "datasets that each block's file has whole, parted by blanks"},
    {"blocks", BuiltinArgument::Type::text, "128,128,128,4", "the extents of a block"},
    {"filter", BuiltinArgument::Type::text, "none", "how the data are stored", "none|gzip|keep"},
}};

Selections selections_of(const BuiltinCall& call) {
  Selections selections{parse_selection(conversion::text_of(call, "dataset"))};
  std::string_view rest = trim(conversion::text_of(call, "keep"));
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    selections.push_back(parse_selection(rest.substr(0, blank)));
    rest = blank == std::string_view::npos ? "" : trim(rest.substr(blank));
  }
  return selections;
}

BuiltinResult cut(const BuiltinCall& call, Workbench& bench) {
  const std::string& filter = conversion::text_of(call, "filter");
  SelectOptions options;
  options.filter = filter == "gzip"   ? SelectOptions::Filter::gzip
                   : filter == "keep" ? SelectOptions::Filter::keep
                                      : SelectOptions::Filter::none;
  options.blocks = parse_block_shape(conversion::text_of(call, "blocks"));
  options.sync = false;
  const std::filesystem::path directory = call.output / conversion::stem_of(call);
  options.unfinished = unfinished_name(directory, "new");
  const SelectedFile made = bench.hdf5.select(call.input, selections_of(call), directory, options, call.stop);
  BuiltinResult result{{}, made.bytes_read, made.bytes_written};
  for (const std::filesystem::path& file : made.files) {
    result.files.push_back(file.filename().string());
    rename_path(file, call.output / result.files.back());
  }
  remove_tree(directory);
  return result;
}

}  // namespace

const Builtin hdf5_blocks_builtin{"hdf5-blocks",
                                  "cut a dataset of each HDF5 file into blocks, a file each",
                                  "**/*.h*5",
                                  1,
                                  blocks_arguments,
                                  cut,
                                  {}};

}  // namespace sabath
