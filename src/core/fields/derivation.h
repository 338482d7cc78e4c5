// A step of a derived asset's lineage as it stands in records: base/derivation.h is the same of recipes and manifests.
#pragma once

#include "fields/fields.h"
#include "sabath/supporting.h"

namespace sabath {

template <>
struct Described<DerivationStep> {
  using Of = DerivationStep;
  static constexpr Field table[] = {
      SABATH_FIELD(from, .help = "the name of the input"),
      SABATH_FIELD(input, .help = "its root"),
      SABATH_FIELD(script, .help = "what was done to it"),
      SABATH_FIELD(script_root, .help = "the root of the script's code; null: it has none of its own",
                   .null_if_empty = true),
      SABATH_FIELD(arguments, .help = "of the script"),
      SABATH_FIELD(tools, .help = "versions of what the script uses"),
      SABATH_FIELD(in_place, .help = "files that the script did not write are the input's"),
      SABATH_FIELD(key, .help = "the hash of all this"),
  };
};

}  // namespace sabath
