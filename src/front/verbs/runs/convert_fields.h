// The record of a conversion as a table: `convert` gives it, and a task has it inside its own.
#pragma once

#include "fields/fields.h"
#include "sabath/verbs/convert.h"

namespace sabath {

template <>
struct Described<ConvertedModel> {
  using Of = ConvertedModel;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of its file, without the ending"),
      SABATH_FIELD(file, .help = "in the asset; null: the engine wrote none", .null_if_empty = true),
      SABATH_FIELD(verdict, .help = "equal, stochastic, cannot be judged, or failed"),
      SABATH_FIELD(findings, .help = "what speaks against it"),
      SABATH_FIELD(notes, .help = "what is worth knowing"),
      SABATH_FIELD(max_abs, .help = "the largest difference over all that was compared"),
      SABATH_FIELD(noise, .help = "the largest difference of the original from itself"),
      SABATH_FIELD(latency, .help = "lines for people"),
  };
};

template <>
struct Described<ConvertRecord> {
  using Of = ConvertRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "of the asset"),
      SABATH_FIELD(manifest, .help = "its root", .null_if_empty = true),
      SABATH_FIELD(path, .help = "its view", .null_if_empty = true),
      SABATH_FIELD(verdict, .help = "the worst one of its models", .null_if_empty = true),
      SABATH_FIELD_AS("network", isolation, .help = "how engines were kept from the network", .null_if_empty = true),
      SABATH_FIELD(key, .help = "of all that decides what comes of it"),
      SABATH_FIELD(was_there, .help = "it was there, and nothing was done"),
      SABATH_FIELD(models, .help = "those that were converted"),
      SABATH_FIELD(seconds, .help = "that it took", .unit = "seconds"),
      SABATH_FIELD(exit, .help = "the exit code: 7 of what failed, 13 of what cannot be judged"),
  };
};

}  // namespace sabath
