// The lines of today's training programs that no other format knows, as data: an expression each, in the language of
// --pattern (docs/metrics.md). A further one is a line here and a case in the tests.
#include <array>

#include "metrics/formats.h"
#include "metrics/patterns.h"

namespace sabath {
namespace {

constexpr std::array shapes{
    // torchvision's MetricLogger and PyTorch's ImageNet example; the brackets behind a value are its average
    Shape{"Epoch: [", R"(^Epoch: \[(?P<epoch>\d+)\] *\[ *(?P<step>\d+)/ *\d+\]\s+(?P<values>.*))"},
    Shape{"Test: ", R"(^(?P<group>Test): +\[ *(?P<step>\d+)/ *\d+\]\s+(?P<values>.*))"},
    Shape{"Acc@1", R"(^(?P<group>Test): +(?:EMA )?(?P<values>Acc@1 .*))"},
    Shape{"Acc@1", R"(^ ?\* +(?P<values>Acc@1 .*))"},
    // PyTorch's MNIST example
    Shape{"Test set", R"(^(?P<group>Test set): +(?P<values>.*))"},
    // timm
    Shape{"/", R"(^(?P<group>Train|Test): +(?P<epoch>\d+) +\[ *(?P<step>\d+)/ *\d+ +\( *\d+%\)\]\s+(?P<values>.*))"},
    // detectron2
    Shape{"iter: ", R"(\biter: (?P<step>\d+)  (?P<values>\S.*))"},
    // mmengine, mmcv
    Shape{"Epoch(",
          R"(Epoch\((?P<group>train|val|test)\) +\[ *(?P<epoch>\d+)\]\[ *(?P<step>\d+)/ *\d+\]\s+(?P<values>.*))"},
    Shape{"Iter(", R"(Iter\((?P<group>train|val|test)\) +\[ *(?P<step>\d+)/ *\d+\]\s+(?P<values>.*))"},
    Shape{"Epoch [", R"(Epoch \[(?P<epoch>\d+)\]\[ *(?P<step>\d+)/ *\d+\][\s,]+(?P<values>.*))"},
    // Megatron-LM
    Shape{"iteration", R"(^(?:\[[^\]]*\])? *iteration +(?P<step>\d+)/ *\d+ \|(?P<values>.*))"},
    // nanoGPT, nanochat
    Shape{": ", R"(^(?:step|iter) +(?P<step>\d+): +(?P<values>.*))"},
    Shape{"step ", R"(^step +(?P<step>\d+)/\d+ \([\d.]+%\) \| (?P<values>.*))"},
    // DeepSpeed
    Shape{"steps: ", R"(\bsteps: (?P<step>\d+) (?P<values>loss: .*))"},
    // fairseq
    Shape{"| epoch ", R"(\| epoch (?P<epoch>\d+) \| (?P<values>.*))"},
    // XGBoost
    Shape{"]\t", R"(^\[(?P<step>\d+)\]\t(?P<values>.*))"},
    // Ultralytics' validation, below its table
    Shape{
        "   all ",
        R"(^ +(?P<group>all) +(?P<Images>\d+) +(?P<Instances>\d+) +(?P<P>[\d.e-]+) +(?P<R>[\d.e-]+) +(?P<mAP50>[\d.e-]+) +(?P<mAP50_95>[\d.e-]+) *$)"},
};

// Compiled once: a job has a reader for each rank.
void read_shapes(std::string_view line, Trace& trace, Reading& reading) {
  static const Patterns compiled(shapes);
  compiled.read(line, trace, reading);
}

}  // namespace

extern constexpr LogFormat shapes_format{.name = "shapes", .read = read_shapes};

}  // namespace sabath
