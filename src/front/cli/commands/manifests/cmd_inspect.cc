#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.h"
#include "base/text.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/path.h"
#include "sabath/verbs/inspect.h"

namespace sabath::cli {
namespace {
namespace cmd_inspect {

constexpr std::size_t line_bytes_max = 8192;

std::string array_text(const FileArray& array) {
  std::string text =
      fmt::format("{}{}{} ({})", array.name, array.name.empty() ? "" : "  ", array.type, fmt::join(array.shape, ", "));
  if (array.objects) return text + "  OBJECTS: a pickle";
  if (array.fortran_order) text += "  Fortran order";
  return text + "  " + format_bytes(array.bytes);
}

std::string value_text(const GraphValue& value) {
  return fmt::format("{}  {}{}", value.name, value.type.empty() ? "?" : value.type,
                     value.shape_known ? fmt::format(" ({})", fmt::join(value.shape, ", ")) : " of any shape");
}

std::string code_text(const FileCode& code) {
  const std::string where = code.where.empty() ? "" : code.where + ": ";
  std::string text =
      code.imports.empty() && !code.executes
          ? fmt::format("{}a pickle that imports nothing", where)
          : fmt::format("{}loading it {} {}", where, code.calls ? "calls" : "imports",
                        code.imports.empty() ? "what is not known" : fmt::format("{}", fmt::join(code.imports, ", ")));
  if (!code.trouble.empty()) text += fmt::format("; NOT LOOKED AT TO ITS END: {}", code.trouble);
  return text;
}

class Lines {
 public:
  explicit Lines(Context& context) : context_(context) {}
  void add(const std::string& text) { context_.out.print(printable(text, line_bytes_max) + "\n"); }

  void graph(const GraphFacts& graph) {
    std::string opsets;
    for (const auto& [domain, version] : graph.opsets)
      opsets += fmt::format("{}{}{}", opsets.empty() ? "" : ", ", domain.empty() ? "" : domain + " ", version);
    add(fmt::format("IR version {}, opset {}, by {}", graph.ir_version, opsets,
                    graph.producer.empty() ? "?" : graph.producer));
    for (const GraphValue& value : graph.inputs) add("input   " + value_text(value));
    for (const GraphValue& value : graph.outputs) add("output  " + value_text(value));
    std::string operators;
    for (const auto& [name, count] : graph.operators)
      operators += fmt::format("{}{} {}", operators.empty() ? "" : ", ", count, name);
    add(fmt::format("{}: {}", counted(graph.nodes, "node"), operators));
    add(fmt::format("{}, {}", counted(graph.initializers, "initializer"), format_bytes(graph.initializer_bytes)));
    if (graph.external_data.empty()) return;
    add(fmt::format("external data, NOT OPENED{}: {}", graph.external_outside ? ", OUTSIDE ITS DIRECTORY" : "",
                    fmt::join(graph.external_data, ", ")));
  }

  void records(const FileRecords& records) {
    add(fmt::format("{} records, {}, of {} to {} bytes; all checksums are right", records.count,
                    format_bytes(records.bytes), records.smallest, records.largest));
    if (records.examples == 0) return;
    add(fmt::format("{} of tf.train.Example; the first has", records.examples));
    for (const FileFeature& feature : records.features) {
      add(fmt::format("  {}  {} of {}{}", feature.name, feature.values, feature.kind,
                      feature.kind == "bytes" ? fmt::format(", {} bytes", feature.bytes) : ""));
    }
  }

 private:
  Context& context_;
};

void print(Context& context, const InspectRecord& record) {
  Lines lines(context);
  lines.add(fmt::format("{}: {}{}, {}", record.file.string(),
                        record.format == "unknown" ? "of a format that is not known" : record.format,
                        record.packed.empty() ? "" : ", packed by " + record.packed, format_bytes(record.bytes)));
  for (const FileArray& array : record.arrays) lines.add(array_text(array));
  if (const std::uint64_t hidden = record.arrays_total - record.arrays.size(); hidden > 0)
    lines.add(fmt::format("and {} more arrays", hidden));
  if (record.records) lines.records(*record.records);
  if (record.graph) lines.graph(*record.graph);
  for (const auto& [key, value] : record.metadata) lines.add(fmt::format("@{}  {}", key, value));
  for (const FileCode& code : record.code) lines.add(code_text(code));
  if (record.format == "hdf5") context.say("sabath hdf5 inspect shows what is in it");
}

}  // namespace cmd_inspect
}  // namespace

constexpr Verb inspect_verb{
    .name = "inspect",
    .summary = "show what is in a data file, and what loading it would run",
    .examples =
        "sabath inspect model.onnx           versions, inputs, outputs, operators\n"
        "sabath inspect weights.pth          what its pickle imports\n"
        "sabath inspect train.tfrecord       records, features; every checksum is checked",
    .details =
        "By content: npy, npz, TFRecord (also in gzip), safetensors, ONNX, and pickles by themselves, in archives of "
        "torch and Keras, and in arrays of objects. Nothing is loaded, no file beside FILE is opened. Exit code 12 if "
        "it is damaged, 7 if it is cut off. docs/formats.md.",
    .declare = declare<inspect, cmd_inspect::print>,
};

}  // namespace sabath::cli
