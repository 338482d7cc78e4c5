// What a recipe says for people, catalogues and other tools, as it stands in records: docs/metadata.md.
#pragma once

#include "fields/fields.h"
#include "sabath/metadata.h"

namespace sabath {

inline std::string_view type_of_party(const Party& party) { return party.organization ? "organization" : "person"; }

template <>
struct Described<Party> {
  using Of = Party;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "Family, Given of a person"),
      SABATH_VALUE("type", type_of_party, .help = "a person or an organization", .words = "organization|person"),
      SABATH_FIELD(orcid, .help = "the person's ORCID", .null_if_empty = true),
      SABATH_FIELD(affiliation, .help = "where the person works", .null_if_empty = true),
  };
};

template <>
struct Described<RelatedAsset> {
  using Of = RelatedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(relation, .help = "as DataCite has them: IsDerivedFrom, IsDocumentedBy"),
      SABATH_FIELD(target, .help = "a URI, or the name of a recipe"),
  };
};

template <>
struct Described<Variable> {
  using Of = Variable;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "an array or a column that its files hold"),
      SABATH_FIELD(dtype, .help = "the type of its elements", .null_if_empty = true),
      SABATH_FIELD(unit, .help = "of its values", .null_if_empty = true),
      SABATH_FIELD(description, .help = "what it is", .null_if_empty = true),
      SABATH_FIELD(shape, .help = "in elements, the slowest axis first; null: it varies"),
  };
};

template <>
struct Described<FormatFacts> {
  using Of = FormatFacts;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "names of formats: HDF5, TFRecord"),
      SABATH_FIELD(media_types, .help = "as RFC 6838 has them"),
      SABATH_FIELD(conforms_to, .help = "URIs of conventions and schemas"),
      SABATH_FIELD(variables, .help = "arrays and columns"),
  };
};

template <>
struct Described<ModelFacts> {
  using Of = ModelFacts;
  static constexpr Field table[] = {
      SABATH_FIELD(format, .help = "how the model is written", .null_if_empty = true),
      SABATH_FIELD(framework, .help = "what it was made with", .null_if_empty = true),
      SABATH_FIELD(type, .help = "what kind of model it is", .null_if_empty = true),
      SABATH_FIELD(tunable, .help = "it can be trained further"),
      SABATH_FIELD(hyper_parameters, .help = "with which it was trained"),
      SABATH_FIELD(metrics, .help = "by which it is judged"),
      SABATH_FIELD(accelerators, .help = "that it supports"),
  };
};

template <>
struct Described<ExperimentFacts> {
  using Of = ExperimentFacts;
  static constexpr Field table[] = {
      SABATH_FIELD(workflow, .help = "a URI, or the name of a recipe", .null_if_empty = true),
      SABATH_FIELD(software, .help = "that it needs"),
      SABATH_FIELD(hardware, .help = "that it needs"),
      SABATH_FIELD(system, .help = "how the system is configured"),
      SABATH_FIELD(datasets, .help = "URIs, or names of recipes"),
      SABATH_FIELD(models, .help = "URIs, or names of recipes"),
  };
};

}  // namespace sabath
