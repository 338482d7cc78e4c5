// The machine of a run, for run.json. Starts small programs (mpirun --version, nvidia-smi) where they are installed,
// each for at most five seconds. Any thread; a fact that cannot be learnt is null.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>

namespace sabath {

using Variables = std::function<std::optional<std::string>(const std::string&)>;  // of the environment

// The batch system's name of this node, else the host's name.
[[nodiscard]] std::string node_name(const Variables& variable);

// {"node","kernel","architecture","cpu","cpus","cpus_usable","memory_bytes","accelerators":[...],"interconnect":[...],
//  "mpi","container","job"}
[[nodiscard]] nlohmann::ordered_json describe_machine(const Variables& variable, const std::stop_token& stop);

}  // namespace sabath
