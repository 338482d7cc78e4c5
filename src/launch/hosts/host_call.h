// Calls SABATH on another machine: ssh is started, given a call, and its answer read. One thread. Throws
//   Error{command}      ssh, or SABATH there, is not installed, is another version, or gives no answer
//   Error{access}       ssh: a refused login, an unknown or changed host key
//   Error{unavailable}, Error{network}   ssh: no such host, no connection; a connection that broke
//   Error{usage}        a host's name that is none; a call that is too long
//   Error{interrupted}  a stop request; the other side gets it, too
//   and what the other side's Error was.
#pragma once

#include <stop_token>

#include "hosts/call_text.h"
#include "hosts/login.h"
#include "sabath/environment.h"
#include "sabath/event.h"
#include "sabath/verbs/job.h"

namespace sabath {

// Messages and warnings of the other side become events, with the host's name in front.
[[nodiscard]] JobRecord call_host(const HostLogin& login, const HostCall& call, const Environment& environment,
                                  EventSink& events, const std::stop_token& stop);

}  // namespace sabath
