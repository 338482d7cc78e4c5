#include "sabath/verbs/infer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/counted.h"
#include "base/file.h"
#include "base/file_hash.h"
#include "base/hash.h"
#include "base/wording.h"
#include "convert/sources.h"
#include "formats/onnx.h"
#include "infer/inference.h"
#include "machine/machine.h"
#include "record/latency.h"
#include "sabath/asset_file.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/path.h"
#include "verbs/runs/infer_fields.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t graph_bytes_max = 2ULL << 30U;  // a protocol buffer has no more
constexpr std::size_t models_max = 16;

void check_size(std::uint64_t bytes, const std::string& name) {
  if (bytes <= graph_bytes_max) return;
  throw Error(FailureKind::invalid, fmt::format("{} has more than 2 GiB: it is no ONNX file", printable(name, 4096)));
}

std::vector<std::byte> bytes_of_file(const fs::path& file) {
  const auto fd = try_open_file(file, O_RDONLY);
  const auto status = try_stat(file);
  if (!fd || !status || !S_ISREG(status->st_mode))
    throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(file.native(), 4096)));
  check_size(static_cast<std::uint64_t>(status->st_size), file);
  std::vector<std::byte> bytes(static_cast<std::size_t>(status->st_size));
  bytes.resize(read_at(fd->get(), bytes, 0, file));
  return bytes;
}

// The only .onnx file of an asset, or the one that is named behind a colon.
std::vector<std::byte> bytes_of_asset(Session& session, const std::string& name) {
  const auto colon = name.starts_with("sha256:") ? name.find(':', 7) : name.find(':');
  const OpenAsset asset(session, name.substr(0, colon));
  std::string path = colon == name.npos ? "" : name.substr(colon + 1);
  if (path.empty()) {
    std::string all;
    for (const PlacedFile& file : asset.files()) {
      if (!file.path.ends_with(".onnx")) continue;
      all += (all.empty() ? "" : ", ") + printable(file.path);
      path = path.empty() ? file.path : "/";  // more than one
    }
    if (all.empty()) throw Error(FailureKind::usage, printable(name) + " has no .onnx file");
    if (path == "/")
      throw Error(FailureKind::usage, fmt::format("{} has several models: {}", printable(name), all), "say NAME:PATH");
  }
  const AssetFile file(asset, path);
  check_size(file.size_bytes(), name);
  std::vector<std::byte> bytes(file.size_bytes());
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t came = file.read(done, std::span(bytes).subspan(done));
    if (came == 0)
      throw Error(FailureKind::content, fmt::format("{} of {} is cut off", printable(path), printable(name)));
    done += came;
  }
  return bytes;
}

// A file that is there; else ASSET:PATH, whose path may look like a file's name; else what looks like one.
bool is_file_name(const std::string& model) {
  const auto status = try_stat(model);
  if (status && S_ISREG(status->st_mode)) return true;
  if (model.find(':') < model.find('/')) return false;
  return model.find('/') != model.npos || model.ends_with(".onnx");
}

// The seconds of each batch. The first one pays for what the runtime does once, the last one may be shorter.
class BatchTimes {
 public:
  void add(std::uint64_t samples, double seconds) {
    if (seconds_.size() < batches_max) seconds_.push_back(seconds);
    samples_.push_back(samples);
    if (samples_.size() > 2) samples_.erase(samples_.begin());
  }

  [[nodiscard]] LatencyRow row(const InferRequest& request, std::uint64_t batch) const {
    LatencyRow row;
    for (const std::string& model : request.models) {
      const fs::path path = model.find(':') == model.npos ? model : model.substr(model.find(':') + 1);
      row.model += (row.model.empty() ? "" : "+") + (path.extension() == ".onnx" ? path.stem() : path).native();
    }
    row.what = request.optimise ? optimised_latency : plain_latency;
    row.provider = "cpu";
    row.set = "samples";
    row.batch = static_cast<std::int64_t>(batch);
    row.threads = request.threads > 0 ? request.threads : std::max(1U, std::thread::hardware_concurrency());
    std::vector<double> full = seconds_;
    const bool is_cut = samples_.size() == 2 && samples_[1] - samples_[0] < batch;
    if (is_cut) full.pop_back();
    row.warm_up = full.size() > 1 ? 1 : 0;
    full.erase(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(row.warm_up));
    row.calls = full.size();
    std::ranges::sort(full);
    if (full.empty()) return row;
    row.median_seconds = full[full.size() / 2];
    row.p95_seconds = full[std::min(full.size() - 1, full.size() * 95 / 100)];
    return row;
  }

  void append_to(const fs::path& file, const InferenceDone& done) const {
    std::string lines;
    for (std::size_t i = 0; i < seconds_.size(); ++i)
      lines += fmt::format(":::SABATH {{\"step\":{},\"values\":{{\"latency_seconds\":{}}}}}\n", i, seconds_[i]);
    if (done.run_seconds > 0)
      lines += fmt::format(":::SABATH {{\"values\":{{\"samples_per_second\":{},\"samples\":{}}}}}\n",
                           static_cast<double>(done.samples) / done.run_seconds, done.samples);
    Fd fd = open_file(file, O_WRONLY | O_APPEND | O_CREAT);
    write_all(fd.get(), std::as_bytes(std::span(lines)), file);
    close_file(std::move(fd), file);
  }

 private:
  static constexpr std::size_t batches_max = 100'000;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> samples_;  // done after each of the last two
};

// The model's file in the asset's view; empty: it has none here.
fs::path viewed(Session& session, const std::string& name) {
  const auto colon = name.starts_with("sha256:") ? name.find(':', 7) : name.find(':');
  if (colon == name.npos && name.starts_with("sha256:")) return {};
  try {
    NoEvents unheard;
    const fs::path tree = find_path(session, {name.substr(0, colon), ""}, unheard).path;
    if (colon != name.npos) {
      const fs::path file = tree / RelativePath::parse(name.substr(colon + 1)).text();
      return try_stat(file) ? file : fs::path();
    }
    const OpenAsset asset(session, name);
    for (const PlacedFile& each : asset.files()) {
      if (each.path.ends_with(".onnx") && try_stat(tree / each.path)) return tree / each.path;
    }
  } catch (const Error&) {  // what is read without a view says what is missing
  }
  return {};
}

// The files beside the model in which its weights stand.
std::vector<std::pair<std::string, Sha256>> weights_beside(const fs::path& file) {
  const GraphFacts graph = read_onnx(file).graph;
  const std::string name = printable(file.native(), 4096);
  if (graph.external_outside)
    throw Error(FailureKind::invalid, name + " names weights outside its directory", "no such file is read");
  std::vector<std::pair<std::string, Sha256>> weights;
  for (const std::string& each : graph.external_data) {
    const auto path = RelativePath::try_parse(each);
    const fs::path beside = path ? file.parent_path() / path->text() : fs::path();
    const auto status = path ? try_stat(beside) : std::nullopt;
    if (!status || !S_ISREG(status->st_mode)) {
      throw Error(FailureKind::not_found,
                  fmt::format("{} names weights in {}, which is not there", name, printable(each)),
                  "it belongs beside the model");
    }
    weights.emplace_back(each, sha256_of_file(beside));
  }
  return weights;
}

std::vector<std::string> texts_of(const std::vector<TensorSlot>& slots) {
  std::vector<std::string> texts;
  for (const TensorSlot& slot : slots) texts.push_back(text_of(slot));
  return texts;
}

void check(const InferRequest& request) {
  if (request.models.empty() || request.models.size() > models_max)
    throw Error(FailureKind::usage,
                fmt::format("{}: 1 to {} can be run", counted(request.models.size(), "model"), models_max));
  if (request.inputs.empty())
    throw Error(FailureKind::usage, "no samples are named", fmt::format("say {} FILE", option_text("input")));
  if (request.output.empty())
    throw Error(FailureKind::usage, "where the results are to be written is not said",
                fmt::format("say {} FILE", option_text("output")));
  refuse_other_endings(request.output);
}

}  // namespace

InferRecord infer(Session& session, const InferRequest& request, EventSink&, std::stop_token stop) {
  check(request);
  const Environment& environment = request.environment;
  const auto runtime =
      OrtRuntime::open({[&](const std::string& name) { return environment.get(name); }, environment.executable});
  InferRecord record;
  record.runtime_version = runtime->version();
  record.runtime_file = runtime->file();
  record.output = request.output;
  std::vector<std::unique_ptr<OrtModel>> models;
  Inference wanted;
  wanted.inputs = request.inputs;
  wanted.output = request.result;
  wanted.out = request.output;
  wanted.batch = request.batch;
  for (const std::string& name : request.models) {
    OrtOptions options;
    options.threads = request.threads;
    options.optimise = request.optimise;
    const fs::path file = is_file_name(name) ? fs::path(name) : viewed(session, name);
    const auto bytes = is_file_name(name) ? bytes_of_file(name) : bytes_of_asset(session, name);
    auto weights = file.empty() ? std::vector<std::pair<std::string, Sha256>>() : weights_beside(file);
    const OrtModel& model =
        *models.emplace_back(weights.empty() ? std::make_unique<OrtModel>(runtime, bytes, name, options)
                                             : std::make_unique<OrtModel>(runtime, file, name, options));
    record.models.push_back(
        {name, sha256(bytes), texts_of(model.inputs()), texts_of(model.outputs()), std::move(weights)});
    wanted.models.push_back(&model);
  }
  BatchTimes times;
  const InferenceDone done = infer(
      wanted, [&](std::uint64_t samples, double seconds) { times.add(samples, seconds); }, stop);
  const LatencyRow row = times.row(request, done.batch);
  record.median_seconds = row.median_seconds;
  record.p95_seconds = row.p95_seconds;
  const auto variable = [&](const std::string& name) { return environment.get(name); };
  if (!request.latency_file.empty())
    write_text_atomically(request.latency_file, latency_text({row}, describe_machine(variable, stop)));
  if (!request.metrics_file.empty()) times.append_to(request.metrics_file, done);
  record.result = text_of(done.output);
  record.samples = done.samples;
  record.batches = done.batches;
  record.batch = done.batch;
  record.bytes_read = done.bytes_read;
  record.bytes_written = done.bytes_written;
  record.load_seconds = done.load_seconds;
  record.run_seconds = done.run_seconds;
  return record;
}

namespace {

using InferInputs = std::map<std::string, std::filesystem::path>;

InferInputs& inputs_at(void* at) { return *static_cast<InferInputs*>(at); }

void read_only_input(const Field& field, JsonObject& request, void* at) {
  if (const auto file = request.try_text(field.key)) inputs_at(at)[""] = *file;
}

// "[NAME=]FILE"
void parse_input(const Field&, const std::string&, const std::string& text, void* at) {
  const auto equals = text.find('=');
  const bool named = equals != text.npos && text.find('/') > equals;
  if (!inputs_at(at).emplace(named ? text.substr(0, equals) : "", named ? text.substr(equals + 1) : text).second)
    throw Error(FailureKind::usage, "an input is named twice: " + printable(text, 4096),
                fmt::format("{} NAME=FILE names each", option_text("input")));
}

constexpr FieldType only_input_type{.name = "text", .read = read_only_input};
constexpr FieldType inputs_type{.name = "object of texts",
                                .read = TypeOf<InferInputs>::read,
                                .parse = parse_input,
                                .write = TypeOfPairs<InferInputs>::write,
                                .repeats = true};

void* inputs_of(void* request) { return &static_cast<InferRequest*>(request)->inputs; }

}  // namespace

template <>
struct Described<InferRequest> {
  using Of = InferRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(models,
                   .help = "in the order in which data pass them: an .onnx file, an asset with one, or ASSET:PATH",
                   .required = true, .hidden = true),
      Field{.key = "input",
            .type = &only_input_type,
            .at = inputs_of,
            .help = "the samples, where the first model has one input",
            .hidden = true},
      Field{.key = "inputs",
            .type = &inputs_type,
            .at = inputs_of,
            .help = "the samples, for each input of the first model",
            .letter = 'i',
            .option = "input",
            .value = "[NAME=]FILE"},
      SABATH_FIELD(output, .help = "where the results go", .required = true, .letter = 'o', .value = "FILE"),
      SABATH_FIELD(result, .help = "which output of the last model, if it has several", .value = "NAME"),
      SABATH_FIELD(batch, .help = "samples at a time (default: as the model says, or 16 MiB of them)", .value = "N"),
      SABATH_FIELD(threads, .help = "threads in an operator (default: the runtime's choice)", .maximum = 1024,
                   .value = "N"),
      SABATH_FIELD_AS("latency", latency_file,
                      .help = "write the batches' latency there, for `sabath report --format latency`",
                      .value = "FILE"),
      SABATH_FIELD_AS("as_it_is", optimise, .help = "do not let the runtime optimise the graph", .opposite = true),
      SABATH_FIELD(environment, .help = "the variables that say where ONNX Runtime is; absent: those of this process",
                   .hidden = true),
  };
};

std::string to_json(const InferRecord& record) { return record_text(record); }

extern constexpr LibraryVerb infer_call =
    described<static_cast<InferRecord (*)(Session&, const InferRequest&, EventSink&, std::stop_token)>(infer)>("infer");

}  // namespace sabath
