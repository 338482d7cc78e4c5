// Small universes with the structure of the CosmoUniverse HDF5 files, as scripts/make-cosmouniverse has them: Poisson
// samples of a lognormal density field at four redshifts, whose power spectrum is the linear one of the universe's own
// parameters (transfer function without wiggles of Eisenstein and Hu 1998, arXiv:astro-ph/9709112, equations 26 and 28
// to 31). The same seed gives the same universe. Pure, but for write_universe.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sabath::demo {

struct Universe {
  std::uint64_t seed9 = 0;  // 24 bits; names the file
  std::string tag;
  std::array<double, 4> unit{};        // each in [-1, 1): what a model predicts
  std::array<double, 4> parameters{};  // Omega_m, sigma_8, N_spec, H_0 (km/s/Mpc)
  std::size_t side = 0;                // cells
  std::vector<std::int16_t> counts;    // particles: side^3 cells, at each the four redshifts
};

// `side` is a power of two.
[[nodiscard]] Universe make_universe(std::uint64_t seed, std::uint64_t index, std::size_t side);

// Returns the file, "univ_ics_2019-03_a<seed9>.hdf5" in `directory`. Throws Error{storage}, Error{space}.
std::filesystem::path write_universe(const std::filesystem::path& directory, const Universe& universe);

}  // namespace sabath::demo
