#include "task/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <system_error>

#include "base/counted.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "run/yaml_settings.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

struct TaskKey {
  std::string_view group, name;
  bool lists = false;  // one value for each model
};
constexpr std::array<TaskKey, 25> keys{{
    {"general_args", "task"},
    {"general_args", "tag"},
    {"general_args", "backend", true},
    {"device_args", "worker_num"},
    {"device_args", "device"},
    {"device_args", "gpu_mapping_file"},
    {"device_args", "gpu_mapping_key"},
    {"model_args", "model_name", true},
    {"model_args", "model_file", true},
    {"model_args", "onnx_version"},
    {"model_args", "input"},
    {"model_args", "work_dir"},
    {"model_args", "query"},
    {"model_args", "code", true},
    {"model_args", "dummy", true},
    {"model_args", "data", true},
    {"model_args", "input_names", true},
    {"model_args", "output_names", true},
    {"model_args", "stochastic"},
    {"model_args", "atol"},
    {"model_args", "rtol"},
    {"model_args", "build_file"},
    {"model_args", "build_tag"},
    {"model_args", "volume"},
    {"out_args", "export_file", true},
}};

struct TaskBackend {
  std::string_view name, engine;
};
constexpr std::array<TaskBackend, 7> backends{{{"pt", "pytorch"},
                                               {"pytorch", "pytorch"},
                                               {"tf", "keras"},
                                               {"tensorflow", "keras"},
                                               {"keras", "keras"},
                                               {"sklearn", "sklearn"},
                                               {"onnx", "onnx"}}};

// The papers write task_args for model_args, and out.args for out_args.
std::string own_spelling(const std::string& key) {
  for (const auto& [theirs, ours] :
       {std::pair<std::string_view, std::string_view>{"task_args.", "model_args."}, {"out.args.", "out_args."}}) {
    if (key.starts_with(theirs)) return std::string(ours) + key.substr(theirs.size());
  }
  return key;
}

std::string counted_models(std::size_t models) { return (models == 1 ? "is " : "are ") + counted(models, "model"); }

class Planner {
 public:
  Planner(std::string_view text, const std::string& origin) : origin_(origin) {
    for (YamlSetting& setting : read_yaml_settings(text, origin, YamlLists::read)) {
      setting.key = own_spelling(setting.key);
      check_key(setting);
      const std::string key = setting.key;
      if (!given_.emplace(key, std::move(setting)).second)
        throw_at(origin_, given_.at(key).line, fmt::format("\"{}\" appears twice, under two names", key));
    }
  }

  TaskPlan run() {
    const std::string task = text_of("general_args.task");
    if (task.empty())
      throw_at(origin_, 1, "says no task", "general_args has task: conversion, inference, search or load");
    if (task == "container") {
      const std::string tag = text_of("model_args.build_tag");
      throw_at(
          origin_, line_of("general_args.task"),
          "an image is made by programs of its own, which run what its build file says: that is not done here",
          fmt::format("build it with podman or Apptainer, and run a model in it by the setting container of a run: "
                      "podman:{}",
                      tag.empty() ? "IMAGE" : printable(tag, 300)));
    }
    check_device();
    for (const char* const key : {"model_args.build_file", "model_args.build_tag", "model_args.volume"}) {
      if (given_.contains(key)) throw_at(origin_, line_of(key), fmt::format("\"{}\" is of a container task", key));
    }
    if (task == "conversion") {
      plan_.kind = TaskPlan::Kind::conversion;
      plan_conversion();
    } else if (task == "inference") {
      plan_.kind = TaskPlan::Kind::inference;
      plan_inference();
    } else if (task == "search" || task == "load") {
      plan_.kind = task == "search" ? TaskPlan::Kind::search : TaskPlan::Kind::load;
      plan_.words = list_of(task == "search" ? "model_args.query" : "model_args.model_name");
      if (plan_.words.empty())
        throw_at(origin_, line_of("general_args.task"), task == "search" ? "says no query" : "says no model_name",
                 "it is in model_args");
    } else {
      throw_at(origin_, line_of("general_args.task"), fmt::format("there is no task \"{}\"", printable(task)),
               "tasks are conversion, inference, search and load");
    }
    return std::move(plan_);
  }

 private:
  void check_key(const YamlSetting& setting) const {
    const auto dot = setting.key.find('.');
    const std::string group = setting.key.substr(0, dot),
                      name = dot == std::string::npos ? "" : setting.key.substr(dot + 1);
    std::vector<std::string> known;
    for (const TaskKey& key : keys) {
      const std::string whole = fmt::format("{}.{}", key.group, key.name);
      known.push_back(whole);
      if (key.group != group || key.name != name) continue;
      if (setting.is_list && !key.lists)
        throw_at(origin_, setting.line, fmt::format("\"{}\" is one value, and no list", whole));
      return;
    }
    const auto meant = nearest(setting.key, known);
    throw_at(origin_, setting.line,
             fmt::format("unknown key \"{}\"{}", printable(setting.key),
                         meant ? fmt::format(" (did you mean {}?)", *meant) : ""));
  }

  [[nodiscard]] std::vector<std::string> list_of(const std::string& key) const {
    const auto found = given_.find(key);
    if (found == given_.end()) return {};
    return found->second.is_list ? found->second.items : std::vector<std::string>{found->second.value};
  }
  [[nodiscard]] std::string text_of(const std::string& key) const {
    const auto found = given_.find(key);
    return found == given_.end() ? "" : found->second.value;
  }
  [[nodiscard]] std::size_t line_of(const std::string& key) const {
    const auto found = given_.find(key);
    return found == given_.end() ? 1 : found->second.line;
  }
  template <typename Number>
  [[nodiscard]] std::optional<Number> number_of(const std::string& key) const {
    const std::string text = text_of(key);
    if (text.empty()) return std::nullopt;
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw_at(origin_, line_of(key), fmt::format("{} \"{}\" is no number", key, printable(text)));
    return value;
  }

  void check_device() const {
    const std::string device = text_of("device_args.device");
    if (!device.empty() && device != "cpu")
      throw_at(origin_, line_of("device_args.device"),
               fmt::format("models are run on \"cpu\", and not on \"{}\"", printable(device)));
    for (const char* const key : {"device_args.gpu_mapping_file", "device_args.gpu_mapping_key"}) {
      if (!text_of(key).empty()) throw_at(origin_, line_of(key), "models are run on CPUs: there is no GPU to map");
    }
  }

  // One value for each model, or none.
  [[nodiscard]] std::vector<std::string> of_models(const std::string& key, std::size_t models) const {
    std::vector<std::string> values = list_of(key);
    if (values.empty()) values.resize(models);
    if (values.size() != models) {
      throw_at(origin_, line_of(key),
               fmt::format("{} has {}, and there {}", key, counted(values.size(), "value"), counted_models(models)));
    }
    return values;
  }

  [[nodiscard]] std::vector<std::string> model_files() const {
    const auto files = list_of("model_args.model_file");
    if (files.empty()) throw_at(origin_, line_of("general_args.task"), "names no models", "model_args has model_file");
    static_cast<void>(of_models("model_args.model_name", files.size()));
    return files;
  }

  // Relative to work_dir.
  [[nodiscard]] fs::path placed(const std::string& file) const {
    return file.empty() ? fs::path() : fs::path(text_of("model_args.work_dir")) / file;
  }

  static std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0, end = 0; end != list.npos && !list.empty(); begin = end + 1) {
      end = list.find(',', begin);
      parts.emplace_back(trim(list.substr(begin, end - begin)));
    }
    return parts;
  }

  [[nodiscard]] std::vector<fs::path> arrays_of(const std::string& list) const {
    std::vector<fs::path> files;
    for (const std::string& part : parts_of(list)) files.push_back(placed(part));
    return files;
  }

  [[nodiscard]] std::string engine_of(const std::string& backend) const {
    const auto* const found = std::ranges::find(backends, backend, &TaskBackend::name);
    if (found != backends.end()) return std::string(found->engine);
    throw_at(origin_, line_of("general_args.backend"), fmt::format("there is no backend \"{}\"", printable(backend)),
             "backends are pt, tf, keras, sklearn and onnx");
  }

  void plan_conversion() {
    const auto files = model_files();
    auto engines = list_of("general_args.backend");
    if (engines.empty())
      throw_at(origin_, line_of("general_args.task"), "names no backend", "general_args has backend: [\"pt\"]");
    if (engines.size() == 1) engines.resize(files.size(), engines.front());
    if (engines.size() != files.size()) engines = of_models("general_args.backend", files.size());
    const auto code = of_models("model_args.code", files.size()), dummy = of_models("model_args.dummy", files.size()),
               data = of_models("model_args.data", files.size()),
               inputs = of_models("model_args.input_names", files.size()),
               outputs = of_models("model_args.output_names", files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      ConvertModel& model = plan_.convert.models.emplace_back();
      model.model = placed(files[i]);
      model.from = engine_of(engines[i]);
      model.code = placed(code[i]);
      model.dummy = arrays_of(dummy[i]);
      model.data = arrays_of(data[i]);
      model.input_names = parts_of(inputs[i]);
      model.output_names = parts_of(outputs[i]);
      if (model.dummy.empty() && model.data.empty()) {
        throw_at(origin_, line_of("model_args.model_file"),
                 fmt::format("{} has no inputs: without any, nothing can be compared", printable(files[i], 1000)),
                 "add to model_args dummy: [FILE.npy, ...] or data: [FILE.npy, ...], one for each model");
      }
    }
    plan_.convert.opset = number_of<std::uint64_t>("model_args.onnx_version");
    plan_.convert.stochastic = text_of("model_args.stochastic");
    plan_.convert.absolute = number_of<double>("model_args.atol");
    plan_.convert.relative = number_of<double>("model_args.rtol");
    for (const std::string& file : list_of("out_args.export_file")) plan_.export_files.push_back(placed(file));
    if (!plan_.export_files.empty() && plan_.export_files.size() != files.size()) {
      throw_at(origin_, line_of("out_args.export_file"),
               fmt::format("{} to be written, and there {}", counted(plan_.export_files.size(), "file is", "files are"),
                           counted_models(files.size())));
    }
  }

  void plan_inference() {
    for (const std::string& backend : list_of("general_args.backend")) {
      if (backend != "onnx")
        throw_at(origin_, line_of("general_args.backend"), "models are run as ONNX: convert them first",
                 "backend: \"onnx\"");
    }
    for (const std::string& file : model_files()) plan_.infer.models.push_back(placed(file));
    const std::string input = text_of("model_args.input");
    if (input.empty()) throw_at(origin_, line_of("model_args.model_file"), "says no input", "it is in model_args");
    plan_.infer.inputs[""] = placed(input);
    const auto outputs = list_of("out_args.export_file");
    if (outputs.size() != 1)
      throw_at(origin_, line_of("out_args.export_file"), "the results go to one file", "out_args has export_file");
    plan_.infer.output = placed(outputs.front());
    plan_.infer.threads = static_cast<unsigned>(
        std::min<std::uint64_t>(number_of<std::uint32_t>("device_args.worker_num").value_or(0), 1024));
  }

  const std::string& origin_;
  std::map<std::string, YamlSetting> given_;
  TaskPlan plan_;
};

}  // namespace

std::string_view name(TaskPlan::Kind kind) noexcept {
  constexpr std::array<std::string_view, 4> names{"conversion", "inference", "search", "load"};
  return names[static_cast<std::size_t>(kind)];
}

TaskPlan plan_task(std::string_view text, const std::string& origin) { return Planner(text, origin).run(); }

}  // namespace sabath
