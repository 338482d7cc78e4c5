#include "demo/universe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "demo/fourier.h"
#include "hdf5/arrays.h"

namespace sabath::demo {
namespace {

constexpr std::array<double, 4> means{0.3, 0.8, 0.96, 70.0};
constexpr std::array<double, 4> redshifts{0.0, 0.5, 1.5, 3.0};
constexpr double spread = 0.3;  // parameters lie within mean * (1 +- spread)
constexpr double omega_baryon = 0.045;
constexpr double cell_size = 4.0;  // Mpc/h at H_0 = 70
constexpr double particles_a_cell = cell_size * cell_size * cell_size;

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30u)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27u)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31u);
  }
  double uniform() { return (static_cast<double>(bits() >> 11u) + 0.5) * 0x1p-53; }  // in (0, 1)
  std::complex<double> two_normals() {
    return std::polar(std::sqrt(-2 * std::log(uniform())), 2 * std::numbers::pi * uniform());
  }

  // Knuth's product for small means; above them Hörmann's transformed rejection (PTRS, 1993).
  double poisson(double mean) {
    if (mean < 10) {
      const double end = std::exp(-mean);
      double product = uniform(), count = 0;
      for (; product > end; ++count) product *= uniform();
      return count;
    }
    const double root = std::sqrt(mean), log_mean = std::log(mean);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    while (true) {
      const double u = uniform() - 0.5, v = uniform(), u_s = 0.5 - std::abs(u);
      const double k = std::floor((2 * a / u_s + b) * u + mean + 0.43);
      if (u_s >= 0.07 && v <= v_r) return k;
      if (k < 0 || (u_s < 0.013 && v > u_s)) continue;
      if (std::log(v * inverse_alpha / (a / (u_s * u_s) + b)) <= k * log_mean - mean - std::lgamma(k + 1)) return k;
    }
  }

 private:
  std::uint64_t state_;
};

// The matter transfer function at wave numbers k in h/Mpc: 1 on large scales, no acoustic wiggles.
class Transfer {
 public:
  Transfer(double omega_m, double h) {
    const double matter = omega_m * h * h, baryon = omega_baryon * h * h, fraction = omega_baryon / omega_m;
    horizon_h_ = h * 44.5 * std::log(9.83 / matter) / std::sqrt(1 + 10 * std::pow(baryon, 0.75));
    alpha_ = 1 - 0.328 * std::log(431 * matter) * fraction + 0.38 * std::log(22.3 * matter) * fraction * fraction;
    omega_h_ = omega_m * h;
  }
  double operator()(double k) const {
    constexpr double theta = 2.725 / 2.7;
    const double scale = 0.43 * k * horizon_h_,
                 gamma = omega_h_ * (alpha_ + (1 - alpha_) / (1 + scale * scale * scale * scale));
    const double q = k * theta * theta / gamma;
    const double log = std::log(2 * std::numbers::e + 1.8 * q);
    return log / (log + (14.2 + 731 / (1 + 62.5 * q)) * q * q);
  }

 private:
  double horizon_h_, alpha_, omega_h_;
};

// Linear matter power in (Mpc/h)^3 at redshift 0, normalised so that spheres of 8 Mpc/h vary by sigma_8.
class PowerSpectrum {
 public:
  explicit PowerSpectrum(const std::array<double, 4>& parameters)
      : transfer_(parameters[0], parameters[3] / 100), index_(parameters[2]) {
    constexpr int steps = 4096;
    const double from = std::log(1e-4), step = (std::log(1e2) - from) / (steps - 1);
    double variance = 0;
    for (int i = 0; i < steps; ++i) {
      const double k = std::exp(from + i * step), x = 8 * k;
      const double window = 3 * (std::sin(x) - x * std::cos(x)) / (x * x * x);
      variance += shape(k) * window * window * k * k * k * step / (2 * std::numbers::pi * std::numbers::pi);
    }
    scale_ = parameters[1] * parameters[1] / variance;
  }
  double operator()(double k) const { return scale_ * shape(k); }

 private:
  double shape(double k) const {
    const double transfer = transfer_(k);
    return std::pow(k, index_) * transfer * transfer;
  }

  Transfer transfer_;
  double index_, scale_ = 1;
};

// The linear growth factor of a flat universe with a cosmological constant, 1 at redshift 0.
double growth(double redshift, double omega_m) {
  const auto part = [omega_m](double scale) {
    constexpr int steps = 4096;
    double integral = 0;
    for (int i = 0; i < steps; ++i) {
      const double a = (i + 0.5) / steps * scale;
      integral += std::pow(a / (omega_m + (1 - omega_m) * a * a * a), 1.5) / steps * scale;
    }
    return integral * std::sqrt(omega_m / (scale * scale * scale) + 1 - omega_m);
  };
  return part(1 / (1 + redshift)) / part(1);
}

// The two-point correlation of the box's cells at redshift 0. As in the originals the box grows with H_0.
Cube correlation(const std::array<double, 4>& parameters, std::size_t n) {
  const double box = static_cast<double>(n) * cell_size * parameters[3] / 70, unit = 2 * std::numbers::pi / box;
  const PowerSpectrum power(parameters);
  const auto wave = [n, unit](std::size_t i) {
    return unit * (i < (n + 1) / 2 ? static_cast<double>(i) : static_cast<double>(i) - static_cast<double>(n));
  };
  Cube cube(n * n * n);
  for (std::size_t i = 1; i < cube.size(); ++i) {  // the box has the mean density: cell 0 stays 0
    const double k = std::hypot(wave(i / (n * n)), wave(i / n % n), wave(i % n));
    cube[i] = power(k) / (box * box * box);
  }
  transform(cube, n, true);
  return cube;
}

Cube noise_waves(std::size_t n, Random& random) {
  Cube cube(n * n * n);
  for (std::size_t i = 0; i < cube.size(); i += 2) {
    const std::complex<double> two = random.two_normals();
    cube[i] = two.real();
    cube[i + 1] = two.imag();
  }
  transform(cube, n, false);
  return cube;
}

// Densities, the mean 1, at two redshifts: the real and the imaginary part. A lognormal field has the correlation xi
// where its Gaussian has log(1 + xi); the spectra of both redshifts are real, so that one transform makes two of them.
Cube two_densities(const Cube& xi, const Cube& noise, std::size_t n, double growth_a, double growth_b) {
  Cube cube(xi.size());
  for (std::size_t i = 0; i < cube.size(); ++i) {
    cube[i] = {std::log1p(xi[i].real() * growth_a * growth_a), std::log1p(xi[i].real() * growth_b * growth_b)};
  }
  transform(cube, n, false);
  for (std::size_t i = 0; i < cube.size(); ++i) {
    const double a = std::sqrt(std::max(cube[i].real(), 0.0)), b = std::sqrt(std::max(cube[i].imag(), 0.0));
    cube[i] = i == 0 ? 0
                     : std::complex<double>(noise[i].real() * a - noise[i].imag() * b,
                                            noise[i].imag() * a + noise[i].real() * b);
  }
  transform(cube, n, true);
  const auto cells = static_cast<double>(cube.size());
  std::complex<double> sum = 0;
  for (auto& value : cube) {
    value = {std::exp(value.real() / cells), std::exp(value.imag() / cells)};
    sum += value;
  }
  for (auto& value : cube) value = {value.real() / sum.real() * cells, value.imag() / sum.imag() * cells};
  return cube;
}

std::int16_t count_of(double density, Random& random) {
  constexpr double largest = std::numeric_limits<std::int16_t>::max();
  return static_cast<std::int16_t>(std::min(random.poisson(particles_a_cell * density), largest));
}

}  // namespace

Universe make_universe(std::uint64_t seed, std::uint64_t index, std::size_t side) {
  Random random(Random(seed).bits() ^ (index * 0xd1342543de82ef95u));
  Universe universe;
  universe.seed9 = random.bits() >> 40u;
  universe.tag = fmt::format("4parE_{}-{}", seed, index);
  universe.side = side;
  for (std::size_t i = 0; i < means.size(); ++i) {
    universe.unit[i] = 2 * random.uniform() - 1;
    universe.parameters[i] = means[i] * (1 + spread * universe.unit[i]);
  }
  const Cube xi = correlation(universe.parameters, side), noise = noise_waves(side, random);
  universe.counts.resize(xi.size() * redshifts.size());
  for (std::size_t z = 0; z < redshifts.size(); z += 2) {
    const double omega_m = universe.parameters[0];
    const Cube densities =
        two_densities(xi, noise, side, growth(redshifts[z], omega_m), growth(redshifts[z + 1], omega_m));
    for (std::size_t i = 0; i < densities.size(); ++i) {
      universe.counts[i * redshifts.size() + z] = count_of(densities[i].real(), random);
      universe.counts[i * redshifts.size() + z + 1] = count_of(densities[i].imag(), random);
    }
  }
  return universe;
}

std::filesystem::path write_universe(const std::filesystem::path& directory, const Universe& universe) {
  const auto path = directory / fmt::format("univ_ics_2019-03_a{}.hdf5", universe.seed9);
  const std::uint64_t n = universe.side;
  const auto list = [](const std::array<double, 4>& values) { return std::vector(values.begin(), values.end()); };
  write_hdf5(path, {.attributes = {{"dataset_tag", "4parE"},
                                   {"seed9", static_cast<std::int64_t>(universe.seed9)},
                                   {"universe_tag", universe.tag}},
                    .arrays = {{"full", {n, n, n, redshifts.size()}, universe.counts},
                               {"namePar", {4}, std::vector<std::string>{"Omega_m", "sigma_8", "N_spec", "H_0"}},
                               {"physPar", {4}, list(universe.parameters)},
                               {"redshifts", {4}, list(redshifts)},
                               {"unitPar", {4}, list(universe.unit)}}});
  return path;
}

}  // namespace sabath::demo
