// The discrete Fourier transform of a cube. Pure.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace sabath::demo {

using Cube = std::vector<std::complex<double>>;  // n^3 values, the last axis runs fastest

// In place, without a factor in either direction: both, one after the other, multiply by n^3. `n` is a power of two.
void transform(Cube& cube, std::size_t n, bool inverse);

}  // namespace sabath::demo
