// A catalogue as static files: index.json, each recipe with the code beside it, its JSON-LD, the tombstones. Any web
// server or git repository can hold them, and a subscription reads them. One thread. Throws Error{usage} for a
// directory that holds something else, Error{storage}, Error{space}.
#pragma once

#include <stop_token>

#include "sabath/session_settings.h"
#include "sabath/verbs/catalogue.h"

namespace sabath {

[[nodiscard]] ExportedCatalogueRecord write_catalogue(const SessionSettings& settings,
                                                      const ExportCatalogueRequest& request,
                                                      const std::stop_token& stop);

}  // namespace sabath
