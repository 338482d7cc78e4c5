#include "sabath/verbs/fetch.h"

namespace sabath {

void FetchRequest::add(AssetKind kind, const std::string& asset) {
  (kind == AssetKind::dataset ? datasets : kind == AssetKind::model ? models : names).push_back(asset);
}

}  // namespace sabath
