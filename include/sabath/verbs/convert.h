// Models converted to ONNX, with a proof that another person can check: docs/convert.md.
//
// An engine (a program that is described by data) exports the model, and writes what the original gives for inputs that
// it did not choose. The library runs the converted model in ONNX Runtime and compares. What comes of it is an asset:
// the converted models, proof.json, the arrays that were compared, and latency.json. The same request finds it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sabath/digest.h"
#include "sabath/environment.h"
#include "sabath/event.h"

namespace sabath {

class Session;

inline constexpr int unjudged_exit = 13;  // of a conversion that cannot be judged

struct ConvertModel {
  std::string model;  // a file, an asset with one file that the engine takes, or ASSET:PATH
  std::string
      from;  // "" where models are merged; else the engine: "pytorch", "sklearn", "keras", "onnx", or a user's own
  std::string code;  // "FILE.py:NAME": what builds the model, whose weights `model` has; "": `model` is whole
  std::vector<std::filesystem::path> dummy, data;      // .npy, one for each input; one of the two may be empty
  std::uint64_t samples = 0;                           // drawn from the data; 0: 32, or all of fewer
  std::vector<std::string> input_names, output_names;  // empty: the engine names them
};

struct ConvertRequest {
  std::vector<ConvertModel> models;          // all become one asset, or none
  std::optional<std::uint64_t> opset;        // absent: the engine's
  std::string stochastic;                    // the reason why the original need not repeat itself; "": it must
  std::optional<double> absolute, relative;  // instead of the tolerance that is usual for a type; docs/convert.md
  std::string precision;                     // "float32": outputs of more bits may become of it; "": the engine's
  std::uint64_t seed = 0;
  bool merge = false;  // the models, which are a chain of ONNX graphs, become one graph; dummy and data are the first's
  bool fixed_batch = false;         // the first axis of inputs and outputs has the dummy's length
  std::string as;                   // a name; "": MODEL+convert-KEY
  std::uint64_t memory_bytes = 0;   // address space of each process of an engine; 0: no bound
  std::chrono::seconds time{3600};  // of an engine
  bool dry_run = false;
  Environment environment;  // of the process; engines start from it
  // Code that is not trusted yet: as in RunRequest (sabath/verbs/run.h).
  std::string trust;
  std::string remedy;  // the command by which the user says it, for a hint; empty: a conversion
  std::function<std::string(const std::string& about)> ask;
};

struct ConvertedModel {
  std::string name;     // of its file, without the ending
  std::string file;     // in the asset; "": the engine wrote none
  std::string verdict;  // "equal", "stochastic", "cannot be judged", "failed"
  std::vector<std::string> findings, notes;
  std::optional<double> max_abs, noise;  // over all that was compared; of the original against itself
  std::vector<std::string> latency;      // for people
};

struct ConvertRecord {
  std::string name, manifest;  // of the asset; "sha256:<hex>"
  std::filesystem::path path;  // of its view
  std::string verdict;         // the worst one of its models
  std::string isolation;       // "network namespace", "seccomp", "not isolated"
  Sha256 key;
  bool was_there = false;
  std::vector<ConvertedModel> models;
  double seconds = 0;
  int exit = 0;  // 7: it failed; 13: it cannot be judged; both are kept, as no models
};

// One thread. Throws Error{usage}, {not_found}, {offline}, {access} (code or a pickle that is not trusted),
// {unavailable} (no ONNX Runtime, no Python that has what the engine needs), {command} (an engine was killed, or ran
// out of time or memory), {interrupted}, {space}, {storage}.
[[nodiscard]] ConvertRecord convert(Session& session, const ConvertRequest& request, EventSink& events,
                                    std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ConvertRecord& record);

struct ConversionCheckRequest {
  std::string name;         // of an asset that convert() made, or a directory with one
  Environment environment;  // where ONNX Runtime is searched
};

struct ConversionCheckRecord {
  std::string name, manifest;             // "": of a directory
  std::string verdict;                    // as the proof has it
  std::string found;                      // the same, or "touched", or "cannot be judged": nothing shows that it holds
  std::vector<std::string> touched;       // what is not what it was, each a sentence
  std::vector<std::string> unchecked;     // what could not be looked at, and why
  std::uint64_t files = 0, compared = 0;  // arrays that were compared again
  int exit = 0;                           // 7: something was touched; 13: it cannot be judged
};

[[nodiscard]] ConversionCheckRecord convert_check(Session& session, const ConversionCheckRequest& request,
                                                  EventSink& events, std::stop_token stop = {});
[[nodiscard]] std::string to_json(const ConversionCheckRecord& record);

}  // namespace sabath
