#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/counted.h"
#include "base/split.h"
#include "cli/described.h"
#include "cli/told/trust_question.h"
#include "cli/verbs.h"
#include "fields/request.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "sabath/verbs/convert.h"

namespace sabath::cli {
namespace {
namespace cmd_convert {

struct Options {
  ConvertRequest request;
  std::string models;
  std::vector<std::string> from, code, dummy, data, input_names, output_names;
  std::optional<std::string> check;
};

std::vector<std::string> split(const std::string& list) {
  if (list.empty()) return {};
  auto parts = parts_at(list, ',');
  if (std::ranges::find(parts, "") == parts.end()) return parts;
  throw Error(FailureKind::usage, "something without a name is in " + printable(list, 4096));
}

// An option that is given once for each model, in their order; or once for all, where `for_all`.
std::string of_model(const std::vector<std::string>& values, std::size_t i, std::size_t models, bool for_all,
                     std::string_view option) {
  if (values.empty()) return "";
  if (values.size() == 1 && for_all) return values.front();
  if (values.size() == models) return values[i];
  throw Error(FailureKind::usage,
              fmt::format("{} is given {}, and there {} {}", option, counted(values.size(), "time"),
                          models == 1 ? "is" : "are", counted(models, "model")),
              "it is given once for each model, in their order; \"\" for one that has none");
}

std::vector<std::filesystem::path> paths_of(const std::string& list) {
  const auto parts = split(list);
  return {parts.begin(), parts.end()};
}

// "FILE[,FILE...][:N]"
void take_data(const std::string& text, ConvertModel& model) {
  const auto colon = text.rfind(':');
  const bool counted =
      colon != text.npos && colon + 1 < text.size() && text.find_first_not_of("0123456789", colon + 1) == text.npos;
  model.data = paths_of(counted ? text.substr(0, colon) : text);
  if (counted) model.samples = parse_count(text.substr(colon + 1), 1 << 20, "the number of samples");
}

// The chain's inputs are those of its first model, its outputs those of its last.
void take_chain(const std::vector<std::string>& models, const Options& options, ConvertRequest& request) {
  if (!options.from.empty() || !options.code.empty())
    throw Error(FailureKind::usage, "--merge is of ONNX models: it takes no --from and no --code");
  for (const std::string& name : models) request.models.emplace_back().model = name;
  ConvertModel& first = request.models.front();
  first.dummy = paths_of(of_model(options.dummy, 0, 1, false, "--dummy"));
  take_data(of_model(options.data, 0, 1, false, "--data"), first);
  first.input_names = split(of_model(options.input_names, 0, 1, false, "--input-names"));
  request.models.back().output_names = split(of_model(options.output_names, 0, 1, false, "--output-names"));
}

ConvertRequest request_of(const Context& context, const Options& options) {
  ConvertRequest request = options.request;
  const auto models = split(options.models);
  const std::size_t count = models.size();
  for (std::size_t i = 0; i < count && !request.merge; ++i) {
    ConvertModel& model = request.models.emplace_back();
    model.model = models[i];
    model.from = of_model(options.from, i, count, true, "--from");
    if (model.from.empty())
      throw Error(FailureKind::usage, "what the model was made with is not said",
                  "--from pytorch, sklearn, keras, xgboost or onnx");
    model.code = of_model(options.code, i, count, false, "--code");
    model.dummy = paths_of(of_model(options.dummy, i, count, false, "--dummy"));
    take_data(of_model(options.data, i, count, false, "--data"), model);
    model.input_names = split(of_model(options.input_names, i, count, false, "--input-names"));
    model.output_names = split(of_model(options.output_names, i, count, false, "--output-names"));
  }
  if (request.merge) take_chain(models, options, request);
  if (can_ask(context))
    request.ask = [&](const std::string& about) { return ask_trust(context, options.models, about); };
  return request;
}

void tell(Context& context, const ConvertedModel& model) {
  std::string figures;
  if (model.max_abs) figures += fmt::format(", largest difference {:.3g}", *model.max_abs);
  if (model.noise) figures += fmt::format(", the original's own noise {:.3g}", *model.noise);
  context.say(fmt::format("{}: {}{}", model.name, model.verdict, figures));
  for (const std::string& finding : model.findings) context.warn("  " + printable(finding, 4096));
  for (const std::string& note : model.notes) context.say("  note: " + printable(note, 4096));
  for (const std::string& line : model.latency) context.say("  " + line);
}

void print(Context& context, const ConvertRecord& record) {
  for (const ConvertedModel& model : record.models) tell(context, model);
  if (record.models.empty()) {
    context.say(fmt::format("{}: is not there; it would be made", record.name));
  } else if (record.was_there) {
    context.say(fmt::format("{} was there: nothing was done", record.name));
  } else {
    context.say(fmt::format("{}: {} in {:.1f} s; the engine's network: {}", record.name, record.verdict, record.seconds,
                            record.isolation));
  }
  context.out.print((record.path.empty() ? record.name : record.path.native()) + "\n");
}

std::string check_text(const ConversionCheckRecord& record) {
  if (!record.touched.empty()) return "something was touched";
  if (record.exit != 0) return "that shows too little";
  if (record.manifest.empty()) return "they agree with each other; that all were replaced together would not show";
  return record.compared > 0 ? "nothing was touched" : "no file was touched";
}

void print_check(Context& context, const ConversionCheckRecord& record) {
  for (const std::string& touched : record.touched) context.warn(printable(touched, 4096));
  for (const std::string& not_looked_at : record.unchecked)
    context.say("not checked: " + printable(not_looked_at, 4096));
  context.say(fmt::format("{}, {} compared again: {}", counted(record.files, "file"),
                          counted(record.compared, "output"), check_text(record)));
  context.out.print(record.found + "\n");
}

int run(Context& context, const Options& options) {
  if (options.check) return perform<convert_check>(context, ConversionCheckRequest{*options.check, {}}, print_check);
  if (options.models.empty())
    throw Error(FailureKind::usage, "no model is named", "sabath convert MODEL --from pytorch");
  return perform<convert>(context, request_of(context, options), print);
}

Action declare_models(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.optional_argument("MODELS", options->models, "a file, an asset with one, or ASSET:PATH; an ensemble: A,B,...");
  set.option(
      "--from", "ENGINE", options->from,
      "what made it: pytorch, sklearn, keras, xgboost, onnx, or an engine of your own (once, or for each model)");
  set.option("--code", "FILE.py:NAME", options->code,
             "what builds a PyTorch model, whose weights MODEL has (for each)");
  set.option("--dummy", "FILE[,FILE]", options->dummy,
             "a dummy input, .npy, one file for each of its inputs (for each)");
  set.option("--data", "FILE[,FILE][:N]", options->data,
             "real samples, of which N (default 32) are drawn for the comparison (for each)");
  set.option("--input-names", "NAME[,NAME]", options->input_names, "of the converted model (for each)");
  set.option("--output-names", "NAME[,NAME]", options->output_names, "of the converted model (for each)");
  declare_fields(set, options->request);
  set.option("--check", "ASSET", options->check,
             "look at a conversion again: exit 7 if anything was touched, 13 if it shows too little");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_convert
}  // namespace

constexpr Verb convert_verb{
    .name = "convert",
    .summary = "convert models to ONNX, with a proof that others can check",
    .examples =
        "sabath convert model.pt --from pytorch --data x.npy -o mine         TorchScript; the samples are x.npy's\n"
        "sabath convert w.pth --from pytorch --code net.py:Net --dummy one.npy --data x.npy:64\n"
        "sabath convert enc.pt,forest.pkl --from pytorch --from sklearn --data x.npy --data z.npy --trust once\n"
        "sabath convert enc:enc.onnx,dec:dec.onnx --merge --data x.npy -o both\n"
        "sabath convert --check mine                                         exit 7 if anything was touched",
    .details =
        "An engine exports the model and writes what the original gives; sabath runs the converted model in ONNX "
        "Runtime (SABATH_ORT, or the active environment's) and compares, on real samples, random ones and zeros, by a "
        "tolerance that was stated before. The asset has the models, proof.json, the arrays that were compared, and "
        "latency.json; asked again, it is there. A conversion that failed (exit code 7), or cannot be judged (13), is "
        "kept as such, and has no model. docs/convert.md.",
    .declare = cmd_convert::declare_models,
};

}  // namespace sabath::cli
