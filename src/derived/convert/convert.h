// A conversion from request to asset, and a finished one looked at again. Main thread. Throws as sabath/verbs/convert.h
// says.
#pragma once

#include <stop_token>

#include "holdings/calling_session.h"
#include "sabath/event.h"
#include "sabath/session_settings.h"
#include "sabath/verbs/convert.h"

namespace sabath {

[[nodiscard]] ConvertRecord make_conversion(const CallingSession& caller, const ConvertRequest& request,
                                            EventSink& events, const std::stop_token& stop);
[[nodiscard]] ConversionCheckRecord look_at_conversion(const SessionSettings& settings,
                                                       const ConversionCheckRequest& request,
                                                       const std::stop_token& stop);

}  // namespace sabath
