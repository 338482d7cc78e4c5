// One answer for all ranks: each rank's own result becomes a result of all.
#pragma once

#include <functional>
#include <optional>

#include "sabath/comm.h"
#include "sabath/error.h"

namespace sabath {

// Collective. Every rank gets nullopt if no rank has a failure, else the gravest failure, that of the lowest rank with
// one. Its message names the rank and its node, unless it is rank 0's.
[[nodiscard]] std::optional<Failure> agree(Comm& comm, const std::optional<Failure>& mine);

// Collective. Runs `phase` and agrees on how it went: every rank throws the same Error, or none does.
void run_agreed(Comm& comm, const std::function<void()>& phase);

// The failure that `phase` throws, as a value.
[[nodiscard]] std::optional<Failure> failure_of(const std::function<void()>& phase);

}  // namespace sabath
