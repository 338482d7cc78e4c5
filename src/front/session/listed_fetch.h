// Files that another document than a recipe lists, fetched as a recipe's are: several streams, resumed, verified, kept.
// Nothing gets a name. One thread. Throws what concerns the whole call; failures of files are in the record.
#pragma once

#include <stop_token>

#include "sabath/event.h"
#include "sabath/recipe.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/fetch.h"
#include "store/store.h"

namespace sabath {

// `recipe`: as its document says; its `origin` is the document, whose owner is who named the URLs.
[[nodiscard]] AssetRecord fetch_listed(const SessionSettings& settings, Store& store, Recipe recipe, EventSink& events,
                                       const std::stop_token& stop);

}  // namespace sabath
