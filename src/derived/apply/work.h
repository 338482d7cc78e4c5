// The work of one step on its input files: each in a scratch directory of its own, its outputs into the store, a note
// when it is done. A file that a note knows, and whose outputs are in the store, is not done again. work_on() uses
// `threads` threads; the rest is for one.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "apply/built_in.h"
#include "apply/finished.h"
#include "apply/plan.h"
#include "sabath/event.h"
#include "sabath/verbs/apply.h"
#include "store/store.h"

namespace sabath {

struct StepWork {
  Store& store;
  const ScriptStep& step;
  const Builtin* built_in = nullptr;  // nullptr: the script is foreign
  std::string program;                // that the script's first word stands for; empty: that word as it is filled in
  std::filesystem::path dataset;      // the view of the input
  Sha256 input;                       // its root
  std::filesystem::path source;       // of the script's code; empty: it has none
  std::vector<std::string> environment;
  std::filesystem::path companion;
  unsigned threads = 1;
  std::uint64_t memory_bytes = 0;
  std::chrono::seconds time{0};
  bool force = false;
  EventSink& events;
  std::stop_token stop;
};

struct Worked {
  std::vector<Output> outputs;
  std::uint64_t processed = 0, resumed = 0;
  std::vector<ApplyFailure> failures;
};

// A file that fails is a failure among the others. Throws Error{interrupted}, and what the store throws.
[[nodiscard]] Worked work_on(const StepWork& work, const std::vector<Entry>& files);
// The step on the whole asset at once; `manifest`: to see afterwards that no input was changed.
[[nodiscard]] Worked work_on_all(const StepWork& work, const Manifest& manifest, const std::vector<Entry>& files);

}  // namespace sabath
