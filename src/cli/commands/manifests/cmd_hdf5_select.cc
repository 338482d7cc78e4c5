#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/hdf5.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_select {

struct Options {
  std::string file, output, filter = "none", blocks, as = "files", digest;
  std::vector<std::string> selections;
  bool rest = false;
};

Hdf5SelectRequest request_of(const Options& options) {
  using Filter = Hdf5SelectRequest::Filter;
  if (options.output.empty()) throw Error(FailureKind::usage, "hdf5 select needs -o OUT");
  Hdf5SelectRequest request;
  request.file = options.file;
  request.selections = options.selections;
  request.output = options.output;
  request.filter = options.filter == "gzip"   ? Filter::gzip
                   : options.filter == "zstd" ? Filter::zstd
                   : options.filter == "keep" ? Filter::keep
                                              : Filter::none;
  request.blocks = options.blocks;
  request.blocks_as_groups = options.as == "groups";
  request.rest = options.rest;
  if (options.digest.empty()) return request;
  request.source_digest = Sha256::try_parse(options.digest);
  if (!request.source_digest) throw Error(FailureKind::usage, "--source-digest is not a SHA-256 in hexadecimal digits");
  return request;
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const Hdf5SelectRecord record = hdf5_select(session, request_of(options), unheard, context.stop);
  for (const std::string& left : record.left_out) context.warn(fmt::format("left out {}", left));
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  const std::size_t files = record.files.size();
  context.say(fmt::format("{}: {}{} selected of {} read, in {:.2f} s", printable(options.output, 4096),
                          files == 1 ? "" : fmt::format("{} files, ", files), format_bytes(record.bytes_selected),
                          format_bytes(record.bytes_read), record.seconds));
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("FILE", options->file, "an HDF5 file");
  set.arguments("SELECTION", options->selections, true,
                "full[:,:,:,0], group/x[10:20:2, ...], or a whole dataset or group");
  set.option("-o,--output", "OUT", options->output, "the HDF5 file to write; with --blocks, the directory");
  set.choice("--filter", {"none", "gzip", "zstd", "keep"}, options->filter,
             "how the data are stored; keep: in the chunks and filters of FILE (default: none)");
  set.option("--blocks", "N,N,...", options->blocks, "cut the first SELECTION into blocks of this shape");
  set.choice("--as", {"files", "groups"}, options->as, "what a block becomes (default: files)");
  set.flag("--rest", options->rest, "keep everything that is not named, too, whole");
  set.option("--source-digest", "SHA256", options->digest,
             "what is known of FILE's content, for the provenance attribute");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_hdf5_select
}  // namespace

constexpr Verb hdf5_select_verb{
    "hdf5 select",
    "make an HDF5 file of a part of another",
    "sabath hdf5 select univ.hdf5 'full[:,:,:,0]' physPar -o today.hdf5\n"
    "sabath hdf5 select univ.hdf5 full unitPar -o a1 --blocks 128,128,128,4   a1/a1_000.hdf5, ...\n"
    "sabath hdf5 select big.h5 'climate/data[0:100]' -o part.h5 --filter gzip",
    "An index means what it means to h5py: a number drops its axis, ranges may have a step, '...' stands for all other "
    "axes. Attributes are kept, what was not selected is left out, and the attribute sabath_selection says what was. "
    "The "
    "same selection of the same data gives the same bytes. FILE is read once, in contiguous pieces.",
    true,
    cmd_hdf5_select::declare,
};

}  // namespace sabath::cli
