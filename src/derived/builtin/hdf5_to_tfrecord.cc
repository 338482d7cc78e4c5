// NAME.hdf5 -> NAME.tfrecord: one record, a tf.train.Example of the dataset's bytes and the labels' floats. With the
// defaults that is the record of the CosmoFlow benchmark: x, int16 in C order, and y, four floats.
#include <algorithm>
#include <array>
#include <memory>

#include "builtin/call.h"
#include "builtin/extracted.h"
#include "formats/crc32c.h"
#include "formats/gzip.h"
#include "formats/tfrecord.h"

namespace sabath {
namespace {

constexpr std::size_t copy_buffer_bytes = 1 << 20;

constexpr std::array<BuiltinArgument, 6> to_tfrecord_arguments{{
    {"x", BuiltinArgument::Type::text, "full", "the dataset that becomes the feature x, or a selection: full[:,:,:,0]"},
    {"y", BuiltinArgument::Type::text, "unitPar", "the dataset that becomes the feature y, as floats; empty: none"},
    {"x_name", BuiltinArgument::Type::text, "x", "the name of the first feature"},
    {"y_name", BuiltinArgument::Type::text, "y", "the name of the second feature"},
    {"gzip", BuiltinArgument::Type::flag, "false", "pack the file by gzip; its name stays"},
    {"level", BuiltinArgument::Type::number, "6", "of gzip: from 1, fast, to 9, small", {}, 1, 9},
}};

// Bytes [offset, offset + length) of `file`, to `to` if there is one; returns their CRC behind `crc`.
std::uint32_t pass_on(const BuiltinCall& call, const NewFile& file, std::uint64_t offset, std::uint64_t length,
                      std::uint32_t crc, ByteSink* to) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(copy_buffer_bytes);
  FileBytes data(file.unfinished(), offset, length);
  while (const std::size_t got = data.read({buffer.get(), copy_buffer_bytes})) {
    conversion::heed(call);
    crc = crc32c({buffer.get(), got}, crc);
    if (to != nullptr) to->write({buffer.get(), got});
  }
  return crc;
}

BuiltinResult to_tfrecord(const BuiltinCall& call, Workbench& bench) {
  const std::string &x = conversion::text_of(call, "x"), &y = conversion::text_of(call, "y");
  const Extracted what = conversion::describe_selection(call, bench, x);
  ExampleFrame frame(conversion::text_of(call, "x_name"), ExampleFrame::Bulk::bytes, what.bytes);
  if (!y.empty()) frame.add_floats(conversion::text_of(call, "y_name"), conversion::extract_floats(call, bench, y));
  frame.finish();
  BuiltinResult result{{conversion::stem_of(call) + ".tfrecord"}, what.bytes, 0};
  NewFile output(call.output / result.files[0]);
  if (!conversion::flag_of(call, "gzip")) {
    output.write(frame.head());
    conversion::extract_selection(call, bench, x, output, frame.head().size());
    const std::uint32_t crc = pass_on(call, output, frame.head().size(), what.bytes, frame.crc_before(), nullptr);
    output.write_at(frame.tail(crc), frame.head().size() + what.bytes);
  } else {
    const NewFile plain(call.output / (result.files[0] + ".data"));
    conversion::extract_selection(call, bench, x, plain, 0);
    GzipSink packed(output, conversion::number_of(call, "level"));
    packed.write(frame.head());
    packed.write(frame.tail(pass_on(call, plain, 0, what.bytes, frame.crc_before(), &packed)));
    packed.finish();
  }
  result.bytes_written = output.finish();
  return result;
}

}  // namespace

const Builtin hdf5_to_tfrecord_builtin{"hdf5-to-tfrecord",
                                       "write each HDF5 file as a TFRecord file of one tf.train.Example",
                                       "**/*.h*5",
                                       1,
                                       to_tfrecord_arguments,
                                       to_tfrecord,
                                       {}};

}  // namespace sabath
