// A simulated source and a link over time: pure functions of it.
#pragma once

#include <span>

#include "simulation.h"

namespace sabath::test {

[[nodiscard]] double trips_to(const SimulatedSource& source, double part);  // round trips of slow start to that window
[[nodiscard]] double rate_at(const SimulatedSource& source, double since);  // of a connection that began so long ago
[[nodiscard]] double step_of(const SimulatedCase& setting);                 // seconds that one rate is taken to hold
void share(double total, std::span<double* const> wants);                   // max-min fair, in place

}  // namespace sabath::test
