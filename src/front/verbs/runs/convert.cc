#include "sabath/verbs/convert.h"

#include <nlohmann/json.hpp>

#include "convert/convert.h"
#include "fields/request.h"
#include "session/caller_of.h"
#include "verbs/runs/convert_fields.h"
#include "verbs/verb.h"

namespace sabath {
ConvertRecord convert(Session& session, const ConvertRequest& request, EventSink& events, std::stop_token stop) {
  check_span(request.time, "the time of an engine");
  return make_conversion(caller_of(session), request, events, stop);
}

ConversionCheckRecord convert_check(Session& session, const ConversionCheckRequest& request, EventSink&,
                                    std::stop_token stop) {
  return look_at_conversion(session.settings(), request, stop);
}

constexpr std::string_view convert_environment_help =
    "the variables that engines start from, and that say where ONNX Runtime is; absent: those of this process";

template <>
struct Described<ConvertModel> {
  using Of = ConvertModel;
  static constexpr Field table[] = {
      SABATH_FIELD(model, .help = "a file, an asset with one, or ASSET:PATH", .required = true),
      SABATH_FIELD(from, .help = "what made it: pytorch, sklearn, keras, xgboost, onnx, or an engine of your own"),
      SABATH_FIELD(code, .help = "FILE.py:NAME, what builds a PyTorch model whose weights the model has"),
      SABATH_FIELD(dummy, .help = "a dummy input, .npy, one file for each of its inputs"),
      SABATH_FIELD(data, .help = "real samples, one file for each of its inputs"),
      SABATH_FIELD(samples, .help = "how many of them are drawn for the comparison; 0: 32, or all of fewer"),
      SABATH_FIELD(input_names, .help = "of the converted model; empty: the engine names them"),
      SABATH_FIELD(output_names, .help = "of the converted model; empty: the engine names them"),
  };
};

template <>
struct Described<ConvertRequest> {
  using Of = ConvertRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(models, .help = "all become one asset, or none", .hidden = true),
      SABATH_FIELD(opset, .help = "of ONNX (default: the engine's)", .maximum = 1000, .value = "N"),
      SABATH_FIELD(merge, .help = "a chain of ONNX models becomes one graph; the proof names all of them"),
      SABATH_FIELD(fixed_batch, .help = "as many samples as the dummy input has, and no other number"),
      SABATH_FIELD(absolute, .help = "the tolerance, absolute (default: by the outputs' type)", .option = "atol",
                   .value = "X"),
      SABATH_FIELD(relative, .help = "the tolerance, relative to the original's value", .option = "rtol", .value = "X"),
      SABATH_FIELD(precision, .help = "outputs of more bits may become of this type",
                   .words = "float16|float32|float64"),
      SABATH_FIELD(stochastic, .help = "the original need not repeat itself; the proof says why", .value = "REASON"),
      SABATH_FIELD(seed, .help = "by which samples are drawn and random ones are made (default 0)", .value = "N"),
      SABATH_FIELD(as, .help = "a name for the asset (default: MODEL+convert-KEY)", .letter = 'o', .value = "NAME"),
      SABATH_FIELD_AS("memory", memory_bytes, .help = "address space of each process of an engine, e.g. 8G",
                      .unit = "bytes", .value = "SIZE"),
      SABATH_FIELD(time, .help = "for each engine, e.g. 10m (default 1h); then it is ended", .value = "TIME"),
      SABATH_FIELD(trust, .help = "open a pickle, or run code that others could write (docs/trust.md)",
                   .words = "once|commit|origin", .value = "once|commit"),
      SABATH_FIELD(dry_run, .help = "say whether it is there, and convert nothing", .letter = 'n'),
      SABATH_FIELD(environment, .help = convert_environment_help, .hidden = true),
  };
};

template <>
struct Described<ConversionCheckRequest> {
  using Of = ConversionCheckRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an asset that a conversion made, or a directory with one", .required = true,
                   .argument = "ASSET"),
      SABATH_FIELD(environment, .help = convert_environment_help, .hidden = true),
  };
};

template <>
struct Described<ConversionCheckRecord> {
  using Of = ConversionCheckRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "what was looked at"),
      SABATH_FIELD(manifest, .help = "its root; null: of a directory", .null_if_empty = true),
      SABATH_FIELD(verdict, .help = "as the proof has it", .null_if_empty = true),
      SABATH_FIELD(found, .help = "the same, touched, or cannot be judged: nothing shows that it holds",
                   .null_if_empty = true),
      SABATH_FIELD(touched, .help = "what is not what it was, each a sentence"),
      SABATH_FIELD(unchecked, .help = "what could not be looked at, and why"),
      SABATH_FIELD(files, .help = "looked at", .unit = "files"),
      SABATH_FIELD(compared, .help = "arrays that were compared again"),
      SABATH_FIELD(exit, .help = "the exit code: 7 of what was touched, 13 of what cannot be judged"),
  };
};

std::string to_json(const ConvertRecord& record) { return record_text(record); }
std::string to_json(const ConversionCheckRecord& record) { return record_text(record); }

extern constexpr LibraryVerb convert_call = described<convert>("convert");
extern constexpr LibraryVerb convert_check_call = described<convert_check>("convert check");

}  // namespace sabath
