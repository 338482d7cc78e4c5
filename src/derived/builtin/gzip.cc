// NAME -> NAME.gz, as `gzip -n` makes it: without the name and the time.
#include "formats/gzip.h"

#include <array>
#include <memory>

#include "builtin/call.h"

namespace sabath {
namespace {

constexpr std::size_t gzip_buffer_bytes = 1 << 20;

constexpr std::array<BuiltinArgument, 1> gzip_arguments{
    {{"level", BuiltinArgument::Type::number, "6", "from 1, fast, to 9, small", {}, 1, 9}}};

BuiltinResult pack(const BuiltinCall& call, Workbench&) {
  FileBytes input(call.input);
  BuiltinResult result{{call.input.filename().string() + ".gz"}, input.size_bytes(), 0};
  NewFile output(call.output / result.files[0]);
  GzipSink packed(output, conversion::number_of(call, "level"));
  const auto buffer = std::make_unique_for_overwrite<char[]>(gzip_buffer_bytes);
  while (const std::size_t got = input.read({buffer.get(), gzip_buffer_bytes})) {
    conversion::heed(call);
    packed.write({buffer.get(), got});
  }
  packed.finish();
  result.bytes_written = output.finish();
  return result;
}

}  // namespace

const Builtin gzip_builtin{"gzip", "pack each file by gzip, without name and time", "**/*", 1, gzip_arguments, pack,
                           {}};

}  // namespace sabath
