#include "fetch/file_part.h"

#include "fetch/transfer/at_hand.h"

namespace sabath {

void FilePart::prepare() {
  if (is_local()) return adopt_local();
  settled_ = at_hand(scope_.context, own_job(), scope_.request.refresh, outcome_);
}

bool FilePart::enter() {
  const bool program = scope_.recipe.kind == AssetKind::executable;  // a server tells no mode
  entries_.add_file(*fragment().path, outcome_.tree.digest, outcome_.tree.chunks, program);
  entries_.add_checksums(*fragment().path, outcome_.computed);
  ++scope_.files_done;
  return true;
}

}  // namespace sabath
