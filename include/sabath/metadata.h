// What a recipe says of an asset for people, catalogues and other tools: who made it, under which identifier, in which
// formats, what belongs to it. Reference: docs/metadata.md. Values only; made by src/catalogue/recipe/metadata.cc,
// which checks everything that is said here. Empty: the recipe does not say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sabath/recipe.h"

namespace sabath {

// A person or an organisation.
struct Party {
  std::string name;  // "Family, Given" of a person; without a comma, the name as it stands
  bool organization = false;
  std::string orcid;  // 0000-0000-0000-0000, its check digit right
  std::string affiliation;

  [[nodiscard]] std::string_view family() const;  // empty: the name is not parted
  [[nodiscard]] std::string_view given() const;
  [[nodiscard]] std::string shown() const;  // "Given Family"
};

struct RelatedAsset {
  std::string relation;  // of DataCite's relationType: "IsDerivedFrom", "IsDocumentedBy", ...
  std::string target;    // a URI, or the name of a recipe
};

// An array that files of an asset hold: of HDF5, netCDF, TFRecord, npz, or a column of a table.
struct Variable {
  std::string name, dtype, unit, description;
  std::optional<std::vector<std::optional<std::uint64_t>>>
      shape;  // in elements, the slowest axis first; nullopt: varies
};

struct FormatFacts {
  std::vector<std::string> names;        // "HDF5", "TFRecord"
  std::vector<std::string> media_types;  // RFC 6838: "application/x-hdf5"
  std::vector<std::string> conforms_to;  // URIs of conventions and schemas
  std::vector<Variable> variables;
};

struct ModelFacts {
  std::string format, framework, type;  // "onnx"; "PyTorch"; "ConvolutionalNeuralNetwork"
  std::optional<bool> tunable;
  std::map<std::string, std::string> hyper_parameters;
  std::vector<std::string> metrics;       // "accuracy", "latency"
  std::vector<std::string> accelerators;  // that it supports: "CUDA", "ROCm", "none"
  [[nodiscard]] bool empty() const;
};

struct ExperimentFacts {
  std::string workflow;                         // a URI or a recipe's name
  std::vector<std::string> software, hardware;  // that it needs
  std::map<std::string, std::string> system;    // configuration: "OMP_NUM_THREADS"
  std::vector<std::string> datasets, models;    // URIs or recipes' names
  [[nodiscard]] bool empty() const;
};

struct Metadata {
  std::string id;         // a URI: persistent, of this asset alone
  std::string doi;        // "10.1234/abc", in lower case
  std::string published;  // YYYY, YYYY-MM or YYYY-MM-DD
  std::vector<Party> creators;
  std::optional<Party> submitter;  // who wrote the recipe
  std::map<std::string, std::string> tags;
  std::vector<std::string> keywords;
  std::vector<RelatedAsset> related;
  FormatFacts format;
  ModelFacts model;
  ExperimentFacts experiment;
  std::map<std::string, std::string> unknown;                 // key of the recipe -> why it is not known
  std::map<std::string, std::vector<std::string>> read_from;  // key of the recipe -> public pages that state it
};

// Of a recipe that says nothing: an empty one.
[[nodiscard]] const Metadata& metadata_of(const Recipe& recipe);

}  // namespace sabath
