#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "hdf5/own_process.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {
namespace cmd_hdf5_select {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file, output, filter = "none", blocks, as = "files", digest;
  std::vector<std::string> selections;
  bool rest = false;
};

SelectOptions select_options(const Options& options) {
  using Filter = SelectOptions::Filter;
  SelectOptions result;
  result.filter = options.filter == "gzip"   ? Filter::gzip
                  : options.filter == "zstd" ? Filter::zstd
                  : options.filter == "keep" ? Filter::keep
                                             : Filter::none;
  if (!options.blocks.empty()) result.blocks = parse_block_shape(options.blocks);
  result.blocks_as_groups = options.as == "groups";
  result.rest = options.rest;
  if (!options.digest.empty()) {
    const auto hash = Sha256::try_parse(options.digest);
    if (!hash) throw Error(FailureKind::usage, "--source-digest is not a SHA-256 in hexadecimal digits");
    const auto status = try_stat(options.file);
    result.source_digest = Digest{ContentKind::file, status ? static_cast<std::uint64_t>(status->st_size) : 0, *hash};
  }
  result.unfinished = fmt::format("{}.{}.new", options.output, ::getpid());
  return result;
}

Json record_of(const SelectedFile& made) {
  Json record{{"bytes_read", made.bytes_read},
              {"bytes_selected", made.bytes_selected},
              {"bytes_written", made.bytes_written},
              {"seconds", made.seconds},
              {"files", Json::array()},
              {"left_out", made.left_out}};
  for (const auto& file : made.files) record["files"].push_back(file.string());
  return record;
}

int run(Context& context, const Options& options) {
  if (options.output.empty()) throw Error(FailureKind::usage, "hdf5 select needs -o OUT");
  Selections selections;
  for (const std::string& text : options.selections) selections.push_back(parse_selection(text));
  const SelectedFile made =
      Hdf5(context.configuration.session.program)
          .select(options.file, selections, options.output, select_options(options), context.stop);
  for (const std::string& left : made.left_out) context.warn(fmt::format("left out {}", left));
  if (context.presentation.json) {
    Json record{{"schema", 1}, {"source", options.file}, {"out", options.output}};
    record.update(record_of(made));
    record["exit"] = 0;
    context.out.record(record);
    return 0;
  }
  const std::size_t files = made.files.size();
  context.say(fmt::format("{}: {}{} selected of {} read, in {:.2f} s", printable(options.output, 4096),
                          files == 1 ? "" : fmt::format("{} files, ", files), format_bytes(made.bytes_selected),
                          format_bytes(made.bytes_read), made.seconds));
  return 0;
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
