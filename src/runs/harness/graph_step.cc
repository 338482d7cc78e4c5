#include "harness/graph_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/file_hash.h"
#include "base/wording.h"
#include "base/working_directory.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr const char* result_name = "work/result.npy";
constexpr std::size_t graph_files_max = 100'000;

// Of this program, which is started as users start it.
std::string argument_name(std::string_view name) { return fmt::format("--{}", name); }

// The model's ONNX file: the one that is named, else the only one.
fs::path graph_in(const ResolvedRun& run, const fs::path& tree) {
  if (!run.graph.empty()) {
    const fs::path file = tree / run.graph;
    const auto status = try_stat(file);
    if (status && S_ISREG(status->st_mode)) return file;
    throw Error(FailureKind::not_found, fmt::format("{} has no file {}", run.model.name, printable(run.graph)));
  }
  std::vector<std::string> found;
  std::size_t seen = 0;
  std::error_code error;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator at(tree, error); !error && at != end && seen < graph_files_max;
       at.increment(error)) {
    ++seen;
    if (at->path().extension() == ".onnx") found.push_back(at->path().lexically_relative(tree));
  }
  if (found.size() == 1) return tree / found.front();
  std::ranges::sort(found);
  std::string all;
  for (const std::string& each : found) all += (all.empty() ? "" : ", ") + printable(each);
  throw Error(FailureKind::usage,
              found.empty() ? run.model.name + " has no .onnx file"
                            : fmt::format("{} has several models: {}", run.model.name, all),
              found.empty() ? fmt::format("`{}` makes one", verb_text("convert")) : "say NAME:PATH");
}

struct GraphInput {
  std::string name;  // "": the only one
  fs::path file;
};

std::vector<GraphInput> inputs_of(const RunCall& call, const ResolvedRun& run, const RunAssets& assets) {
  std::vector<GraphInput> inputs;
  for (const std::string& text : call.request.inputs) {
    const auto equals = text.find('=');
    const bool named = equals != text.npos && text.find('/') > equals;
    const std::string file = named ? text.substr(equals + 1) : text;
    GraphInput input{named ? text.substr(0, equals) : "", {}};
    const auto below = RelativePath::try_parse(file);
    if (run.dataset && !below)
      throw Error(FailureKind::usage, fmt::format("{} is no path in {}", printable(file, 4096), run.dataset->name));
    input.file = run.dataset ? fs::path(assets.dataset) / below->text() : absolute_path(file);
    const auto status = try_stat(input.file);
    if (!call.dry && (!status || !S_ISREG(status->st_mode))) {
      throw Error(FailureKind::not_found,
                  run.dataset ? fmt::format("{} has no file {}", run.dataset->name, printable(file, 4096))
                              : fmt::format("there is no file {}", printable(file, 4096)));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::string count_in(const Variant& variant, const char* key) {
  const auto found = variant.config.find(key);
  if (found == variant.config.end()) return {};
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return text;
  throw Error(FailureKind::usage, fmt::format("{} cannot be '{}'", key, printable(text)), "it is a number from 1 on");
}

bool optimises(const Variant& variant) {
  const auto found = variant.config.find("optimise");
  if (found == variant.config.end() || found->second == "yes") return true;
  if (found->second == "no") return false;
  throw Error(FailureKind::usage, fmt::format("optimise cannot be '{}'", printable(found->second)), "it is yes or no");
}

}  // namespace

RunStep graph_step(const RunCall& call, const ResolvedRun& run, const Variant& variant, const RunAssets& assets,
                   const fs::path& directory) {
  const fs::path graph = call.dry && !try_stat(assets.source) ? fs::path(assets.source) : graph_in(run, assets.source);
  RunStep step{{run.sampler, "infer", graph.native()}};
  for (const GraphInput& input : inputs_of(call, run, assets)) {
    step.argv.push_back(argument_name("input"));
    step.argv.push_back(input.name.empty() ? input.file.native() : input.name + "=" + input.file.native());
  }
  step.argv.insert(step.argv.end(), {argument_name("output"), (directory / result_name).native()});
  step.argv.insert(step.argv.end(), {argument_name("latency"), (directory / "latency.json").native()});
  for (const char* const key : {"batch", "threads"}) {
    if (const std::string value = count_in(variant, key); !value.empty())
      step.argv.insert(step.argv.end(), {argument_name(key), value});
  }
  if (!optimises(variant)) step.argv.push_back(argument_name("as-it-is"));
  step.argv.insert(step.argv.end(), call.request.arguments.begin(), call.request.arguments.end());
  return step;
}

std::vector<RunRecord::NamedFile> graph_inputs(const RunCall& call, const ResolvedRun& run, const RunAssets& assets) {
  std::vector<RunRecord::NamedFile> files;
  for (const GraphInput& input : inputs_of(call, run, assets))
    files.push_back({input.name, input.file.native(), sha256_of_file(input.file).prefixed()});
  return files;
}

std::vector<RunRecord::NamedFile> graph_results(const fs::path& directory) {
  if (!try_stat(directory / result_name)) return {};
  return {{"", result_name, sha256_of_file(directory / result_name).prefixed()}};
}

}  // namespace sabath
