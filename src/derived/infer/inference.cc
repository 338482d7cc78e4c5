#include "infer/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/counted.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t batch_bytes = 16 << 20, batch_max = 1024;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string names_of(const std::vector<TensorSlot>& slots) {
  std::string names;
  for (const TensorSlot& slot : slots) names += (names.empty() ? "" : ", ") + printable(slot.name);
  return names;
}

// The samples of a chain's first model: a reader for each of its inputs.
class Sources {
 public:
  Sources(const OrtModel& model, const std::map<std::string, fs::path>& files) : name_(model.name()) {
    for (const auto& [input, file] : files) {
      const bool known = input.empty()
                             ? model.inputs().size() == 1 || file.extension() == ".npz"  // which names its arrays
                             : std::ranges::find(model.inputs(), input, &TensorSlot::name) != model.inputs().end();
      if (!known) throw refusal(model, input);
    }
    for (const TensorSlot& slot : model.inputs()) {
      auto file = files.find(slot.name);
      const auto whole = files.find("");
      if (file == files.end() && whole != files.end() &&
          (model.inputs().size() == 1 || whole->second.extension() == ".npz"))
        file = whole;
      if (file == files.end()) throw refusal(model, "");
      readers_.push_back(open_samples(file->second, slot));
      check(slot, readers_.back()->slot(), file->second);
    }
  }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t sample_bytes() const { return sample_bytes_; }
  [[nodiscard]] std::vector<Tensor> read(std::uint64_t count) {
    std::vector<Tensor> tensors;
    for (const auto& reader : readers_) tensors.push_back(reader->read(count));
    return tensors;
  }

 private:
  static Error refusal(const OrtModel& model, const std::string& input) {
    const std::string names = names_of(model.inputs());
    return {FailureKind::usage,
            input.empty() ? fmt::format("{} takes {}: {}", model.name(), counted(model.inputs().size(), "input"), names)
                          : fmt::format("{} has no input {}: it takes {}", model.name(), printable(input), names),
            fmt::format("name a file for each: {} NAME=FILE", option_text("input"))};
  }
  void check(const TensorSlot& wanted, const TensorSlot& there, const fs::path& file) {
    const std::string name = printable(file.native(), 4096);
    const auto count = static_cast<std::uint64_t>(there.shape[0]);
    if (count == 0) throw Error(FailureKind::usage, name + " has no samples");
    if (!readers_.empty() && readers_.size() > 1 && count != samples_)
      throw Error(FailureKind::usage,
                  fmt::format("{} has {}, and another input has {}", name, counted(count, "sample"), samples_));
    samples_ = count;
    TensorSlot any_number = wanted;
    any_number.shape[0] = -1;
    if (const auto why = why_not_fitting(any_number, there); !why.empty()) {
      throw Error(FailureKind::usage, fmt::format("{}, of {}: {}", name_, name, why),
                  "its first axis counts the samples; NumPy converts types by x.astype(...)");
    }
    TensorSlot one = there;
    one.shape[0] = 1;
    sample_bytes_ += bytes_of(one.type, one.shape, std::size_t{1} << 32U);
  }

  const std::string name_;
  std::vector<std::unique_ptr<SampleReader>> readers_;
  std::uint64_t samples_ = 0, sample_bytes_ = 0;
};

std::size_t output_index(const OrtModel& model, const std::string& wanted) {
  const auto& outputs = model.outputs();
  if (wanted.empty() && outputs.size() == 1) return 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name == wanted) return i;
  }
  throw Error(FailureKind::usage,
              wanted.empty()
                  ? fmt::format("{} gives {}: {}", model.name(), counted(outputs.size(), "output"), names_of(outputs))
                  : fmt::format("{} has no output {}: it gives {}", model.name(), printable(wanted), names_of(outputs)),
              fmt::format("name one by {} NAME", option_text("result")));
}

std::uint64_t batch_for(const Inference& wanted, const Sources& sources) {
  std::optional<std::int64_t> fixed;
  std::string of;
  for (const OrtModel* const model : wanted.models) {
    const auto batch = batch_of(slots_of(*model));
    if (!batch) continue;
    if (fixed && *fixed != *batch)
      throw Error(FailureKind::usage,
                  fmt::format("{} takes {} at once, and {} takes {}", of,
                              counted(static_cast<std::uint64_t>(*fixed), "sample"), model->name(), *batch));
    fixed = batch;
    of = model->name();
  }
  const std::uint64_t samples = sources.samples();
  if (!fixed) {
    const std::uint64_t fitting =
        std::clamp<std::uint64_t>(batch_bytes / std::max<std::uint64_t>(1, sources.sample_bytes()), 1, batch_max);
    return std::min(samples, wanted.batch > 0 ? wanted.batch : fitting);
  }
  const auto batch = static_cast<std::uint64_t>(*fixed);
  if (wanted.batch > 0 && wanted.batch != batch)
    throw Error(FailureKind::usage,
                fmt::format("{} takes {} at once, not {}", of, counted(batch, "sample"), wanted.batch));
  if (samples % batch != 0) {
    throw Error(FailureKind::usage,
                fmt::format("{} takes {} at once, and there {} {}", of, counted(batch, "sample"),
                            samples == 1 ? "is" : "are", samples),
                "export the model with a first axis of any length, or give a multiple");
  }
  return batch;
}

}  // namespace

ModelSlots slots_of(const OrtModel& model) { return {model.name(), model.inputs(), model.outputs()}; }

InferenceDone infer(const Inference& wanted, const std::function<void(std::uint64_t, double)>& progress,
                    const std::stop_token& stop) {
  refuse_other_endings(wanted.out);
  std::vector<std::vector<std::size_t>> joints{{}};
  for (std::size_t i = 1; i < wanted.models.size(); ++i)
    joints.push_back(joint(slots_of(*wanted.models[i - 1]), slots_of(*wanted.models[i])));
  const OrtModel& last = *wanted.models.back();
  const std::size_t output = output_index(last, wanted.output);
  Sources sources(*wanted.models.front(), wanted.inputs);
  InferenceDone done;
  done.batch = batch_for(wanted, sources);
  std::unique_ptr<ResultWriter> writer;  // made when the first results say their shape
  while (done.samples < sources.samples()) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "interrupted");
    const std::uint64_t count = std::min(done.batch, sources.samples() - done.samples);
    const auto loading = Clock::now();
    std::vector<Tensor> tensors = sources.read(count);
    for (const Tensor& tensor : tensors) done.bytes_read += tensor.bytes.size();
    const auto running = Clock::now();
    done.load_seconds += std::chrono::duration<double>(running - loading).count();
    for (std::size_t i = 0; i < wanted.models.size(); ++i) {
      if (i > 0) {
        std::vector<Tensor> taken;
        for (const std::size_t from : joints[i]) taken.push_back(tensors[from]);
        tensors = std::move(taken);
      }
      tensors = wanted.models[i]->run(tensors);
    }
    const double seconds = seconds_since(running);
    done.run_seconds += seconds;
    const Tensor& results = tensors[output];
    if (results.shape.empty() || results.shape[0] != static_cast<std::int64_t>(count)) {
      throw Error(FailureKind::invalid,
                  fmt::format("{} gives {} for {}", last.name(),
                              text_of(TensorSlot{last.outputs()[output].name, results.type, results.shape, {}}),
                              counted(count, "sample")),
                  "its first axis does not count samples");
    }
    TensorSlot all{last.outputs()[output].name, results.type, results.shape, {}};
    all.shape[0] = static_cast<std::int64_t>(sources.samples());
    if (writer == nullptr) {
      writer = create_results(wanted.out, all);
      done.output = all;
    } else if (all.shape != done.output.shape || all.type != done.output.type) {
      throw Error(FailureKind::invalid,
                  fmt::format("{} gives {}, and gave {} before", last.name(), text_of(all), text_of(done.output)));
    }
    writer->write(results);
    done.bytes_written += results.bytes.size();
    done.samples += count;
    ++done.batches;
    progress(done.samples, seconds);
  }
  writer->finish();
  return done;
}

}  // namespace sabath
