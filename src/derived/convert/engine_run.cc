#include "convert/engine_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "apply/script_process.h"
#include "base/file.h"
#include "base/wording.h"
#include "convert/arrays.h"
#include "run/environment.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t outputs_max = 256, written_files_max = 10'000;

fs::path native_file(const fs::path& output, const std::string& set, const std::string& run, std::size_t k) {
  return output / "native" / fmt::format("{}.{}.{}.npy", set, run, k);
}

std::vector<Tensor> read_run(const fs::path& output, const std::string& set, const std::string& run) {
  std::vector<Tensor> arrays;
  for (std::size_t k = 0; k < outputs_max; ++k) {
    const fs::path file = native_file(output, set, run, k);
    const auto status = try_lstat(file);
    if (!status || !S_ISREG(status->st_mode)) break;
    arrays.push_back(read_array(file));
  }
  return arrays;
}

Timing native_timing(const fs::path& output, const InputSet& set) {
  const fs::path file = output / "native" / (set.name + ".seconds.npy");
  Timing timing;
  const auto status = try_lstat(file);
  if (status && S_ISREG(status->st_mode)) {
    const Tensor seconds = read_array(file, 1 << 20);
    if (seconds.type == TensorType::float64) {
      std::vector<double> values(seconds.bytes.size() / sizeof(double));
      if (!values.empty()) std::memcpy(values.data(), seconds.bytes.data(), values.size() * sizeof(double));
      std::erase_if(values, [](double value) { return !(value >= 0); });
      timing = timing_of(std::move(values));
    }
  }
  timing.what = "native";
  timing.set = set.name;
  timing.batch = set.batch();
  return timing;
}

void read_results(EngineRun& run, const fs::path& output, const std::string& file, const std::vector<InputSet>& sets,
                  const std::vector<std::string>& timed) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(output, error), end; !error && at != end; at.increment(error)) {
    const fs::path below = at->path().lexically_relative(output);
    if (below == "native") {
      at.disable_recursion_pending();
      continue;
    }
    if (at->symlink_status().type() == fs::file_type::directory) continue;
    if (run.beside.size() >= written_files_max)
      throw Error(FailureKind::invalid, fmt::format("the engine wrote more than {} files", written_files_max));
    (below == file ? run.file = at->path() : run.beside.emplace_back(at->path()));
  }
  std::ranges::sort(run.beside);
  if (run.file.empty()) run.trouble = fmt::format("the engine ended well, and wrote no {}", file);
  for (const InputSet& set : sets) {
    OriginalRuns original;
    original.first = read_run(output, set.name, "first");
    original.again = read_run(output, set.name, "again");
    original.threads = read_run(output, set.name, "threads");
    run.originals.push_back(std::move(original));
    if (std::ranges::find(timed, set.name) == timed.end()) continue;
    Timing timing = native_timing(output, set);
    if (timing.calls > 0) run.timings.push_back(std::move(timing));
  }
}

std::string replaced(std::string word, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = word.find(what, at)) != std::string::npos; at += by.size())
    word.replace(at, what.size(), by);
  return word;
}

}  // namespace

std::string_view text_of(Isolation isolation) noexcept {
  if (isolation == Isolation::own_space) return "network namespace";
  return isolation == Isolation::filter ? "seccomp" : "not isolated";
}

EngineRun run_engine(const ConversionSource& source, const ConvertRequest& request, const std::vector<InputSet>& sets,
                     const std::vector<std::string>& timed, bool trusted, const fs::path& scratch,
                     const fs::path& companion, const std::stop_token& stop, const nlohmann::json& more) {
  const fs::path output = scratch / "output", inputs = scratch / "inputs";
  fs::create_directory(output);
  fs::create_directory(inputs);
  const std::string file = source.name + ".onnx";
  nlohmann::json wanted = {{"schema", 1},
                           {"model", source.file.native()},
                           {"code", source.code.native()},
                           {"factory", source.factory},
                           {"torchscript", source.is_torchscript},
                           {"trusted", trusted},
                           {"output", output.native()},
                           {"file", file},
                           {"opset", request.opset.value_or(source.engine.opset)},
                           {"input_names", source.asked.input_names},
                           {"output_names", source.asked.output_names},
                           {"any_batch", !request.fixed_batch},
                           {"sets", nlohmann::json::array()},
                           {"timed", timed}};
  for (const InputSet& set : sets) {
    nlohmann::json names = nlohmann::json::array();
    for (std::size_t k = 0; k < set.inputs.size(); ++k) {
      const fs::path array = inputs / fmt::format("{}.{}.npy", set.name, k);
      write_array(array, set.inputs[k]);
      names.push_back(array.native());
    }
    wanted["sets"].push_back({{"name", set.name}, {"inputs", std::move(names)}});
  }
  wanted.update(more);
  const fs::path request_file = scratch / "request.json";
  write_text_atomically(request_file, wanted.dump());
  EngineRun run;
  run.argv = source.engine.argv;
  ScriptSpec spec;
  for (const std::string& word : source.engine.argv) {
    spec.argv.push_back(
        replaced(replaced(word, "{engine}", source.engine.directory.native()), "{request}", request_file.native()));
  }
  spec.argv.front() = source.program;
  spec.environment = lines(engine_variables(request.environment));
  spec.directory = output;
  spec.companion = companion;
  spec.memory_bytes = request.memory_bytes;
  spec.time = request.time;
  spec.no_network = true;
  const ScriptEnd end = run_script(spec, stop);
  run.isolation = end.isolation;
  const std::string last = end.last_lines.empty() ? "it printed nothing" : "its last line: " + end.last_lines.back();
  if (end.timed_out || end.signal != 0) {
    throw Error(FailureKind::command,
                end.timed_out
                    ? fmt::format("the engine {} had not ended after {} s", source.engine.name, spec.time.count())
                    : fmt::format("the engine {} was ended by signal {}", source.engine.name, end.signal),
                last);
  }
  if (end.exit != 0) {
    run.trouble = fmt::format("the engine {} could not convert {}: {}", source.engine.name, source.name, last);
    return run;
  }
  read_results(run, output, file, sets, timed);
  return run;
}

}  // namespace sabath
