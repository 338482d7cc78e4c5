// What people are told of a conversion, from the asset that came of it: the same whether it was made now or before.
// One thread. Throws Error{invalid}, Error{storage}.
#pragma once

#include "manifest/manifest.h"
#include "sabath/verbs/convert.h"
#include "store/store.h"

namespace sabath {

void fill_record(const Store& store, const Manifest& manifest, ConvertRecord& record);

}  // namespace sabath
