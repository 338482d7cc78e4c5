// What a stranger may hand over with a converted model: a proof, latencies, and a task file. Any text is refused as
// `invalid`, or read into values with which nothing outside the asset is named.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.h"
#include "convert/proof.h"
#include "report/latency_table.h"
#include "sabath/error.h"
#include "task/plan.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

template <typename Read>
void invalid_or(const Read& read) {
  try {
    read();
  } catch (const sabath::Error& error) {
    check(error.failure().kind == sabath::FailureKind::invalid && sabath::is_utf8(error.failure().message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  invalid_or([&] {
    for (const sabath::ReadModel& model : sabath::parse_proof(text, "proof.json").models) {
      for (const auto& [path, digest] : model.files) check(path.find("..") != 0 && path.front() != '/');
    }
  });
  invalid_or([&] {
    const sabath::LatencyTable table({{"a", sabath::parse_latency(text, "latency.json")}});
    check(sabath::is_utf8(table.text()) && sabath::is_utf8(table.markdown()));
    static_cast<void>(table.csv());
    static_cast<void>(table.json());
  });
  invalid_or([&] { static_cast<void>(sabath::plan_task(text, "task.yaml")); });
  return 0;
}
