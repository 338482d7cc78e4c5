// One start of an engine: in a directory of its own, without network, bounded in time and memory. What it left there is
// read as data. One thread. Throws Error{command} if it was killed or ran out of time, Error{interrupted}.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "convert/sources.h"
#include "convert/witness.h"
#include "run/guarded_process.h"

namespace sabath {

struct EngineRun {
  std::string trouble;                        // the engine itself says that it cannot; empty: it ended well
  std::filesystem::path file;                 // the converted model
  std::vector<std::filesystem::path> beside;  // other files of it: weights
  std::vector<OriginalRuns> originals;        // of each set
  std::vector<Timing> timings;                // of the original
  std::vector<std::string> argv;              // as it ran, with the engine's own placeholders
  Isolation isolation = Isolation::none;
};

// `scratch`: an empty directory. `trusted`: code in the model's file may run. `more`: members that the request gets
// besides, a JSON object.
[[nodiscard]] EngineRun run_engine(const ConversionSource& source, const ConvertRequest& request,
                                   const std::vector<InputSet>& sets, const std::vector<std::string>& timed,
                                   bool trusted, const std::filesystem::path& scratch,
                                   const std::filesystem::path& companion, const std::stop_token& stop,
                                   const nlohmann::json& more);

[[nodiscard]] std::string_view text_of(Isolation isolation) noexcept;

}  // namespace sabath
