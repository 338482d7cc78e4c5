#include "builtin/extracted.h"

#include <fmt/format.h>

#include "builtin/call.h"
#include "formats/npy.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::conversion {
namespace {

constexpr std::uint64_t label_bytes_max = 8'000'000;

}  // namespace

Extracted describe_selection(const BuiltinCall& call, Workbench& bench, const std::string& text) {
  heed(call);
  return bench.hdf5.extract(call.input, parse_selection(text), {}, 0, call.stop);
}

void extract_selection(const BuiltinCall& call, Workbench& bench, const std::string& text, const NewFile& out,
                       std::uint64_t offset) {
  heed(call);
  const Hyperslab selection = parse_selection(text);
  static_cast<void>(bench.hdf5.extract(call.input, selection, out.unfinished(), offset, call.stop));
}

std::vector<float> extract_floats(const BuiltinCall& call, Workbench& bench, const std::string& text) {
  const Extracted what = describe_selection(call, bench, text);
  const std::string name = fmt::format("{}:{}", input_text(call), printable(text));
  if (what.bytes > label_bytes_max) {
    throw Error(FailureKind::usage, fmt::format("cannot write {} as floats: it has {} bytes", name, what.bytes),
                "labels are at most a million numbers");
  }
  const NewFile scratch(call.output / "labels");
  extract_selection(call, bench, text, scratch, 0);
  return as_floats(what.descr, first_bytes(scratch.unfinished(), what.bytes), name);
}

}  // namespace sabath::conversion
