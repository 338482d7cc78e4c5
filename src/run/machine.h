// What a run ran on, as far as this machine tells: for run.json. Starts small programs (mpirun --version, nvidia-smi)
// where they are installed, each for at most five seconds. Any thread; what cannot be learnt is null.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath {

using Variables = std::function<std::optional<std::string>(const std::string&)>;  // of the environment

// What the batch system calls this node, else the host's name.
[[nodiscard]] std::string node_name(const Variables& variable);

// {"node","kernel","architecture","cpu","cpus","cpus_usable","memory_bytes","accelerators":[...],"interconnect":[...],
//  "mpi","container","job"}
[[nodiscard]] nlohmann::ordered_json describe_machine(const Variables& variable, const std::stop_token& stop);

}  // namespace sabath
