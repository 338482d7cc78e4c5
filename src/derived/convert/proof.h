// The proof of a conversion as JSON, and the parts of it that are read again. docs/convert.md has its form. Pure; any
// thread. Throws Error{invalid} for a text that is no proof.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/witness.h"
#include "manifest/file_tree.h"
#include "record/latency.h"
#include "sabath/digest.h"

namespace sabath {

inline constexpr std::size_t proof_bytes_max = 64 << 20;

struct MergedParent {  // a model of a chain that became one graph
  std::string name, source;
  Sha256 digest;
  std::optional<Sha256> root;
};

struct ProvenModel {
  std::string name, from, source, factory;  // source: as it was asked for
  Sha256 source_digest;                     // of the file's bytes
  std::optional<Sha256> source_root, code;  // of the asset that it is from; of the code's bytes
  std::vector<MergedParent> parents;        // of a merged graph, in their order; the first is also `source`
  std::vector<Sha256> dummy, data;          // of the files' bytes
  std::vector<std::uint64_t> rows;          // of the data
  std::string isolation;
  std::map<std::string, std::string> tools;  // versions, as its Python has them
  std::vector<std::string> argv;
  Sha256 engine;
  StatedTerms expected;
  std::optional<GraphFacts> graph;
  std::string file;                                   // in the asset
  std::vector<std::pair<std::string, Sha256>> files;  // all that belongs to it, by path in the asset
  ConversionJudgement judgement;
};

struct Proof {
  std::string key, runtime_version, sabath_version;
  std::string request;  // the key is its digest
  std::uint64_t seed = 0;
  std::vector<ProvenModel> models;
  [[nodiscard]] ConversionVerdict verdict() const;  // the worst
};

// Canonical: keys in byte order, no spaces, UTF-8.
[[nodiscard]] std::string text_of(const Proof& proof);
[[nodiscard]] nlohmann::json json_of_graph(const GraphFacts& graph);
[[nodiscard]] std::vector<LatencyRow> latencies_of(const Proof& proof);

// Of a proof that is read again.
struct ReadModel {
  std::string name, from, file, verdict;
  std::map<std::string, Sha256> files;
  std::string graph;  // canonical
  StatedTerms expected;
  std::uint64_t schema = 2;                                // 1: its differences were judged by |x|, not by a spread
  std::map<std::string, Tolerance> tolerances;             // by output
  std::set<std::pair<std::string, std::string>> compared;  // set and output
  std::set<std::string> noisy;                             // outputs that the original does not repeat
  std::vector<std::string> sets;
  Sha256 source_digest;
  std::size_t inputs = 0;
  std::vector<std::string> findings, notes;
  std::optional<double> max_abs, noise;  // absent: nothing was compared
};
struct ReadProof {
  std::uint64_t schema = 2;
  std::string key, request, verdict, isolation;  // request: "" of schema 1
  std::vector<ReadModel> models;
};
[[nodiscard]] ReadProof parse_proof(std::string_view text, const std::string& name);

// In what the models of a proof differ from the request that its key is the digest of, each a sentence.
[[nodiscard]] std::vector<std::string> disagreements_of(const ReadProof& proof);

// Where the arrays of a model stand in the asset: "evidence/NAME/data.input.0.npy".
[[nodiscard]] std::string evidence_path(const std::string& model, const std::string& set, std::string_view what,
                                        std::size_t k);

}  // namespace sabath
