// A conversion from request to asset, and a finished one looked at again. Main thread. Throws as sabath/convert.h says.
#pragma once

#include <stop_token>

#include "sabath/convert.h"

namespace sabath {

[[nodiscard]] ConvertRecord make_conversion(Session& session, const ConvertRequest& request, EventSink& events,
                                            const std::stop_token& stop);
[[nodiscard]] ConversionCheckRecord look_at_conversion(Session& session, const ConversionCheckRequest& request,
                                                       const std::stop_token& stop);

}  // namespace sabath
