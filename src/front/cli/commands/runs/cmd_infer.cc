#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/counted.h"
#include "base/split.h"
#include "cli/described.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/infer.h"

namespace sabath::cli {
namespace {
namespace cmd_infer {

void print(Context& context, const InferRecord& record) {
  context.say(fmt::format("{}: {}, {} at a time, in {:.3g} s ({:.3g} s in ONNX Runtime {})", printable(record.result),
                          counted(record.samples, "sample"), record.batch, record.load_seconds + record.run_seconds,
                          record.run_seconds, record.runtime_version));
  context.out.print(printable(record.output.native(), 4096) + "\n");
}

Action declare_models(OptionSet& set) {
  const auto request = std::make_shared<InferRequest>();
  const auto models = std::make_shared<std::string>();
  set.argument("MODELS", *models, "an .onnx file, an asset with one, or ASSET:PATH; a chain: A,B,...");
  declare_fields(set, *request);
  return [request, models](Context& context) {
    request->models = parts_at(*models, ',');
    if (std::ranges::find(request->models, "") != request->models.end())
      throw Error(FailureKind::usage, "a model without a name in " + printable(*models, 4096));
    request->metrics_file = context.environment.get("SABATH_METRICS").value_or("");  // in a run
    return perform<infer>(context, *request, print);
  };
}

}  // namespace cmd_infer
}  // namespace

constexpr Verb infer_verb{
    .name = "infer",
    .summary = "run ONNX models over samples, one after the other",
    .examples =
        "sabath infer model.onnx -i x.npy -o y.npy\n"
        "sabath infer encoder.onnx,decoder.onnx -i x.csv -o y.csv     what the first gives, the second takes\n"
        "sabath infer resnet50 -i data=images.npy -o scores.json --batch 8",
    .details =
        "Files end with .npy, .csv, .txt or .json; the first axis counts samples, which stream through in batches. "
        "Names, types and shapes are judged before anything runs, and nothing is converted silently. ONNX Runtime is "
        "not a part of sabath: SABATH_ORT names its library, else the active Python or Conda environment's is taken. "
        "docs/infer.md.",
    .declare = cmd_infer::declare_models,
};

}  // namespace sabath::cli
