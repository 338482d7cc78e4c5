#include "convert/record.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "convert/proof.h"
#include "record/latency.h"
#include "sabath/error.h"

namespace sabath {
namespace {

std::string text_in(const Store& store, const Manifest& manifest, const std::string& path) {
  std::optional<std::string> text;
  manifest.for_each([&](const Entry& entry) {
    if (entry.is_file() && entry.path.text() == path) text = store.text_of(entry.digest, proof_bytes_max);
  });
  if (!text) throw Error(FailureKind::invalid, "the asset has no " + path);
  return *std::move(text);
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", seconds * 1000); }

// "batch 32: native 1.2 ms, onnxruntime 0.5 ms, optimised 0.6 ms: slower by 1.2"
std::map<std::string, std::vector<std::string>> latency_of(const std::string& text) {
  std::map<std::string, std::vector<std::string>> lines;
  struct Medians {
    std::optional<double> native, plain, optimised;
  };
  std::map<std::pair<std::string, std::int64_t>, Medians> rows;
  for (const LatencyRow& row : parse_latency(text, "latency.json").rows) {
    Medians& all = rows[{row.model, row.batch}];
    (row.what == native_latency  ? all.native
     : row.what == plain_latency ? all.plain
                                 : all.optimised) = row.median_seconds;
  }
  for (const auto& [where, row] : rows) {
    std::vector<std::string> known;
    for (const auto& [what, median] :
         {std::pair{"original", row.native}, {"ONNX Runtime", row.plain}, {"optimised", row.optimised}}) {
      if (median) known.push_back(fmt::format("{} {}", what, milliseconds(*median)));
    }
    std::string line = fmt::format("batch {}: {}", where.second, fmt::join(known, ", "));
    if (row.plain && row.optimised && *row.optimised > slower_from * *row.plain)
      line += fmt::format(": the optimised graph is slower, {:.2f} times", *row.optimised / *row.plain);
    lines[where.first].push_back(std::move(line));
  }
  return lines;
}

}  // namespace

void fill_record(const Store& store, const Manifest& manifest, ConvertRecord& record) {
  const ReadProof proof = parse_proof(text_in(store, manifest, "proof.json"), "proof.json");
  const auto latency = latency_of(text_in(store, manifest, "latency.json"));
  record.verdict = proof.verdict;
  record.isolation = proof.isolation;
  for (const ReadModel& model : proof.models) {
    ConvertedModel& shown = record.models.emplace_back();
    shown.name = model.name;
    shown.file = model.file;
    shown.verdict = model.verdict;
    shown.findings = model.findings;
    shown.notes = model.notes;
    shown.max_abs = model.max_abs;
    shown.noise = model.noise;
    if (const auto lines = latency.find(model.name); lines != latency.end()) shown.latency = lines->second;
  }
}

}  // namespace sabath
