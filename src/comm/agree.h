// One answer for all ranks: what each has found out by itself becomes what all of them do.
#pragma once

#include <functional>
#include <optional>

#include "sabath/comm.h"
#include "sabath/error.h"

namespace sabath {

// Collective. nullopt if no rank has a failure, else the gravest, of the lowest rank that has one, on every rank. Its
// message names the rank and its node, unless it is rank 0's.
[[nodiscard]] std::optional<Failure> agree(Comm& comm, const std::optional<Failure>& mine);

// Collective. Runs `phase` and agrees on how it went: every rank throws the same Error, or none does.
void run_agreed(Comm& comm, const std::function<void()>& phase);

// What `phase` throws, as a value.
[[nodiscard]] std::optional<Failure> failure_of(const std::function<void()>& phase);

}  // namespace sabath
