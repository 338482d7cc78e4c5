#include "demo/fourier.h"

#include <numbers>

namespace sabath::demo {
namespace {

using Value = std::complex<double>;

// Products by parts: std::complex's own operator also looks for infinities.
Value times(Value a, Value b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Cooley and Tukey's, radix 2, in place, after the values were put into the order of reversed bits.
void transform_line(std::vector<Value>& line, const std::vector<Value>& roots) {
  const std::size_t n = line.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(line[i], line[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t begin = 0; begin < n; begin += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        const Value even = line[begin + i], odd = times(line[begin + i + half], roots[i * (n / (2 * half))]);
        line[begin + i] = even + odd;
        line[begin + i + half] = even - odd;
      }
    }
  }
}

}  // namespace

void transform(Cube& cube, std::size_t n, bool inverse) {
  std::vector<Value> roots(n / 2), line(n);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    roots[i] = std::polar(1.0, inverse ? angle : -angle);
  }
  for (const std::size_t stride : {std::size_t{1}, n, n * n}) {
    for (std::size_t other = 0; other < n * n; ++other) {
      // The first value of the line: `other` counts through the two axes that it does not run along.
      const std::size_t first = other / stride * stride * n + other % stride;
      for (std::size_t i = 0; i < n; ++i) line[i] = cube[first + i * stride];
      transform_line(line, roots);
      for (std::size_t i = 0; i < n; ++i) cube[first + i * stride] = line[i];
    }
  }
}

}  // namespace sabath::demo
