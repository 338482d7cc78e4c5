// What remains of a removed recipe, as it stands in records.
#pragma once

#include "fields/asset_kind.h"
#include "sabath/verbs/catalogue.h"

namespace sabath {

template <>
struct Described<Tombstone> {
  using Of = Tombstone;
  static constexpr Field table[] = {
      SABATH_FIELD(kind, .help = "what the asset was"),
      SABATH_FIELD(name, .help = "its name"),
      SABATH_FIELD(version, .help = "its version", .null_if_empty = true),
      SABATH_FIELD(id, .help = "its identifier", .null_if_empty = true),
      SABATH_FIELD(doi, .help = "its DOI", .null_if_empty = true),
      SABATH_FIELD(title, .help = "its title", .null_if_empty = true),
      SABATH_FIELD(manifest, .help = "its root, as far as it was known", .null_if_empty = true),
      SABATH_FIELD(licence, .help = "its licence", .null_if_empty = true),
      SABATH_FIELD(citation, .help = "how to cite it"),
      SABATH_FIELD(removed, .help = "when the recipe was removed, in UTC"),
      SABATH_FIELD(why, .help = "the reason", .null_if_empty = true),
      SABATH_FIELD(file, .help = "the file of the tombstone"),
  };
};

}  // namespace sabath
