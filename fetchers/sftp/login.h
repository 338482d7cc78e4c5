// Logging in to an SSH server whose key has been checked: by the agent's keys, then by the key files. Never by a
// password, and no user is ever asked. Throws Error{access} that says what was tried and what the server would take.
#pragma once

#include <libssh2.h>

#include <functional>

#include "sftp/ssh_config.h"
#include "sftp/waiter.h"

namespace sabath {

// Calls a libssh2 function again, each time its socket is ready, until it returns something else than "again".
using Patiently = std::function<int(const std::function<int()>&)>;

void log_in(LIBSSH2_SESSION* session, const SshHost& host, const Waiter& waiter, const Patiently& patiently);

}  // namespace sabath
