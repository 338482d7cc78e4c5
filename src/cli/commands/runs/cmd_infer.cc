#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/infer.h"
#include "sabath/path.h"
#include "verbs/records.h"

namespace sabath::cli {
namespace {
namespace cmd_infer {

struct Options {
  std::string models, output, result, latency;
  std::vector<std::string> inputs;
  std::optional<std::uint64_t> batch, threads;
  bool as_it_is = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0, end = 0; end != list.npos; begin = end + 1) {
    end = list.find(',', begin);
    names.push_back(list.substr(begin, end - begin));
    if (names.back().empty()) throw Error(FailureKind::usage, "a model without a name in " + printable(list, 4096));
  }
  return names;
}

InferRequest request_of(const Options& options, const Environment& environment) {
  InferRequest request;
  request.models = split(options.models);
  for (const std::string& input : options.inputs) {
    const auto equals = input.find('=');
    const bool named = equals != input.npos && input.find('/') > equals;
    const std::string name = named ? input.substr(0, equals) : "";
    if (!request.inputs.emplace(name, named ? input.substr(equals + 1) : input).second)
      throw Error(FailureKind::usage, "an input is named twice: " + printable(input, 4096),
                  "--input NAME=FILE names each");
  }
  request.output = options.output;
  request.result = options.result;
  request.batch = options.batch.value_or(0);
  request.threads = static_cast<unsigned>(options.threads.value_or(0));
  request.optimise = !options.as_it_is;
  request.latency_file = options.latency;
  request.metrics_file = environment.get("SABATH_METRICS").value_or("");  // in a run
  request.environment = environment;
  return request;
}

int run(Context& context, const Options& options) {
  Session session(context.configuration.session);
  NoEvents unheard;
  const InferRecord record = infer(session, request_of(options, context.environment), unheard, context.stop);
  if (context.presentation.json) {
    context.out.record(json_of(record));
    return record.exit;
  }
  context.say(fmt::format("{}: {}, {} at a time, in {:.3g} s ({:.3g} s in ONNX Runtime {})", printable(record.result),
                          counted(record.samples, "sample"), record.batch, record.load_seconds + record.run_seconds,
                          record.run_seconds, record.runtime_version));
  context.out.print(printable(record.output.native(), 4096) + "\n");
  return record.exit;
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.argument("MODELS", options->models, "an .onnx file, an asset with one, or ASSET:PATH; a chain: A,B,...");
  set.option("-i,--input", "[NAME=]FILE", options->inputs, "the samples, for each input of the first model");
  set.option("-o,--output", "FILE", options->output, "where the results go");
  set.option("--result", "NAME", options->result, "which output of the last model, if it has several");
  set.count("--batch", "N", 1 << 20, options->batch,
            "samples at a time (default: as the model says, or 16 MiB of them)");
  set.count("--threads", "N", 1024, options->threads, "threads in an operator (default: the runtime's choice)");
  set.option("--latency", "FILE", options->latency,
             "write the batches' latency there, for `sabath report --format latency`");
  set.flag("--as-it-is", options->as_it_is, "do not let the runtime optimise the graph");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_infer
}  // namespace

constexpr Verb infer_verb{
    "infer",
    "run ONNX models over samples, one after the other",
    "sabath infer model.onnx -i x.npy -o y.npy\n"
    "sabath infer encoder.onnx,decoder.onnx -i x.csv -o y.csv     what the first gives, the second takes\n"
    "sabath infer resnet50 -i data=images.npy -o scores.json --batch 8",
    "Files end with .npy, .csv, .txt or .json; the first axis counts samples, which stream through in batches. Names, "
    "types and shapes are judged before anything runs, and nothing is converted silently. ONNX Runtime is not a part "
    "of "
    "sabath: SABATH_ORT names its library, else the active Python or Conda environment's is taken. docs/infer.md.",
    false,
    cmd_infer::declare,
};

}  // namespace sabath::cli
