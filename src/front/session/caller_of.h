// A session as code below it sees it. One thread.
#pragma once

#include "holdings/calling_session.h"

namespace sabath {

class Session;

[[nodiscard]] CallingSession caller_of(Session& session);  // which must live as long

}  // namespace sabath
