#include "convert/chain_original.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/counted.h"
#include "base/wording.h"
#include "infer/inference.h"
#include "ort/model.h"
#include "sabath/error.h"

namespace sabath {

// The models as they are, with this number of threads in an operator; 0: the runtime chooses.
struct ChainOriginal::Chain {
  Chain(const std::shared_ptr<const OrtRuntime>& runtime, const std::vector<std::filesystem::path>& files,
        unsigned threads, bool optimise) {
    OrtOptions options;
    options.threads = threads;
    options.optimise = optimise;
    for (const auto& file : files) {
      models.push_back(std::make_unique<OrtModel>(runtime, file, file.filename(), options));
      if (models.size() > 1) joints.push_back(joint(slots_of(**(models.end() - 2)), slots_of(*models.back())));
    }
  }

  [[nodiscard]] std::vector<Tensor> run(const InputSet& set) const {
    if (set.inputs.size() != models.front()->inputs().size()) {
      throw Error(FailureKind::usage, fmt::format("{} takes {}, and {} given", models.front()->name(),
                                                  counted(models.front()->inputs().size(), "input"),
                                                  counted(set.inputs.size(), "is", "are")));
    }
    std::vector<Tensor> tensors = models.front()->run(set.inputs);
    for (std::size_t i = 1; i < models.size(); ++i) {
      std::vector<Tensor> taken;
      for (const std::size_t from : joints[i - 1]) taken.push_back(tensors[from]);
      tensors = models[i]->run(taken);
    }
    return tensors;
  }

  std::vector<std::unique_ptr<OrtModel>> models;
  std::vector<std::vector<std::size_t>> joints;
};

ChainOriginal::ChainOriginal(std::shared_ptr<const OrtRuntime> runtime, std::vector<std::filesystem::path> files)
    : runtime_(std::move(runtime)), files_(std::move(files)) {
  if (files_.size() < 2)
    throw Error(FailureKind::usage, "one model is no chain", "name two models or more, in the order of the data");
  const Chain chain(runtime_, files_, 1, false);
  for (std::size_t i = 1; i < files_.size(); ++i) {
    Joint& pairs = joints_.emplace_back();
    for (std::size_t k = 0; k < chain.joints[i - 1].size(); ++k) {
      pairs.emplace_back(chain.models[i - 1]->outputs()[chain.joints[i - 1][k]].name,
                         chain.models[i]->inputs()[k].name);
    }
  }
}

std::vector<OriginalRuns> ChainOriginal::run(const std::vector<InputSet>& sets) const {
  std::vector<OriginalRuns> all(sets.size());
  for (const unsigned threads : {1U, 2U}) {
    const Chain chain(runtime_, files_, threads, false);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (threads == 2) {
        all[i].threads = chain.run(sets[i]);
        continue;
      }
      all[i].first = chain.run(sets[i]);
      all[i].again = chain.run(sets[i]);
    }
  }
  return all;
}

std::vector<Timing> ChainOriginal::time(const std::vector<InputSet>& sets,
                                        const std::vector<std::string>& timed) const {
  const Chain chain(runtime_, files_, 0, true);
  std::vector<Timing> timings;
  for (const InputSet& set : sets) {
    if (std::ranges::find(timed, set.name) == timed.end()) continue;
    Timing timing = timing_of_calls([&] { static_cast<void>(chain.run(set)); });
    timing.what = native_latency;
    timing.set = set.name;
    timing.batch = set.batch();
    timings.push_back(std::move(timing));
  }
  return timings;
}

}  // namespace sabath
