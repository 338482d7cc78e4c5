#include "convert/yardstick.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/counted.h"
#include "formats/npy.h"

namespace sabath {
namespace {

constexpr double share_from = 0.01, noise_times = 6, neighbours_share = 0.01;
constexpr std::size_t half_from = 4;  // values that have a spread of their own

template <typename Number>
Number element(const Tensor& tensor, std::size_t i) {
  Number value{};
  std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

std::size_t elements_of(const Tensor& tensor) { return tensor.bytes.size() / size_bytes(tensor.type); }

std::size_t product(const std::vector<std::int64_t>& shape, std::size_t begin, std::size_t end) {
  std::size_t all = 1;
  for (std::size_t k = begin; k < end; ++k) all *= static_cast<std::size_t>(shape[k]);
  return all;
}

// The shape beside an axis; of an axis that is not as long as there are samples, none.
std::optional<std::vector<std::int64_t>> beside(const Tensor& tensor, std::size_t axis, std::int64_t samples) {
  if (axis >= tensor.shape.size() || tensor.shape[axis] != samples) return std::nullopt;
  std::vector<std::int64_t> shape = tensor.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return shape;
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The median distance from the centre, of those that are not it.
double spread_around(double centre, std::vector<double> values) {
  for (double& value : values) value = std::abs(value - centre);
  std::erase(values, 0.0);
  return values.empty() ? 0 : median_of(values);
}

Slice slice_of(std::vector<double>& values) {
  Slice slice;
  slice.numbers = values.size();
  if (values.empty()) return slice;
  for (const double value : values) slice.largest = std::max(slice.largest, std::abs(value));
  slice.centre = median_of(values);  // and what is less stands before it
  slice.half = slice.spread = spread_around(slice.centre, values);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  for (std::vector<double> half :
       {std::vector<double>(values.begin(), middle), std::vector<double>(middle, values.end())}) {
    if (half.size() < half_from) continue;
    const double centre = median_of(half), spread = spread_around(centre, half);
    if (spread > 0) slice.half = std::min(slice.half, spread);
  }
  return slice;
}

double ulp_of(TensorType type, double value) {
  value = std::abs(value);
  if (!std::isfinite(value)) return 0;
  if (type == TensorType::float64) return std::nextafter(value, HUGE_VAL) - value;
  if (type == TensorType::float16) return std::ldexp(1.0, std::max(value > 0 ? std::ilogb(value) : -14, -14) - 10);
  const auto single = static_cast<float>(value);
  return static_cast<double>(std::nextafter(single, HUGE_VALF)) - static_cast<double>(single);
}

double usual_absolute(TensorType type) {
  if (type == TensorType::float32) return 1e-4;
  return type == TensorType::float64 ? 1e-8 : 1e-2;
}

}  // namespace

bool is_floating(TensorType type) noexcept {
  return type == TensorType::float16 || type == TensorType::float32 || type == TensorType::float64;
}

Tolerance usual_tolerance(TensorType type) noexcept {
  if (type == TensorType::float32) return {0, 1e-3};
  if (type == TensorType::float64) return {0, 1e-6};
  if (type == TensorType::float16) return {0, 1e-2};
  return {};
}

double number_in(const Tensor& tensor, std::size_t i) {
  switch (tensor.type) {
    case TensorType::float32:
      return element<float>(tensor, i);
    case TensorType::float64:
      return element<double>(tensor, i);
    case TensorType::float16:
      return half_to_float(element<std::uint16_t>(tensor, i));
    case TensorType::int8:
      return element<std::int8_t>(tensor, i);
    case TensorType::int16:
      return element<std::int16_t>(tensor, i);
    case TensorType::int32:
      return element<std::int32_t>(tensor, i);
    case TensorType::int64:
      return static_cast<double>(element<std::int64_t>(tensor, i));
    case TensorType::uint16:
      return element<std::uint16_t>(tensor, i);
    case TensorType::uint32:
      return element<std::uint32_t>(tensor, i);
    case TensorType::uint64:
      return static_cast<double>(element<std::uint64_t>(tensor, i));
    case TensorType::uint8:
    case TensorType::boolean:
      break;
  }
  return element<std::uint8_t>(tensor, i);
}

Yardstick::Yardstick(const std::vector<const Tensor*>& originals, const std::vector<std::int64_t>& samples,
                     std::size_t best, TensorType type, const Tolerance& tolerance)
    : type_(type), tolerance_(tolerance), constant_absolute_(is_floating(type) ? usual_absolute(type) : 0) {
  find_features(originals, samples);
  std::vector<std::vector<double>> values(features_.size());
  std::vector<double> all;
  const auto take = [&](std::size_t begin, std::size_t end) {
    for (std::size_t set = begin; set < end; ++set) {
      for (std::size_t i = 0; i < elements_of(*originals[set]); ++i) {
        const double value = number_in(*originals[set], i);
        if (!std::isfinite(value)) continue;
        values[feature(*originals[set], i)].push_back(value);
        all.push_back(value);
      }
    }
  };
  const auto measure = [&] {
    for (std::size_t at = 0; at < features_.size(); ++at) {
      auto of_feature = values[at];
      if (features_[at].spread == 0) features_[at] = slice_of(of_feature);
    }
    auto of_all = all;
    if (whole_.spread == 0) whole_ = slice_of(of_all);
  };
  take(0, best);
  measure();
  numbers_ = all.size();
  is_share_ = is_floating(type) && whole_.largest >= share_from &&
              std::ranges::all_of(all, [](double value) { return value >= 0 && value <= 1; });
  for (std::size_t at = 0; at < features_.size(); ++at) {
    for (const double value : values[at]) farthest_ = std::max(farthest_, std::abs(value - features_[at].centre));
  }
  take(best, originals.size());
  measure();
}

void Yardstick::find_features(const std::vector<const Tensor*>& originals, const std::vector<std::int64_t>& samples) {
  const Tensor& first = *originals.front();
  const auto all_agree = [&](const auto& what) {
    for (std::size_t set = 1; set < originals.size(); ++set) {
      if (what(set) != what(0)) return false;
    }
    return true;
  };
  const auto resize = [&](std::size_t features) { features_.resize(std::max<std::size_t>(features, 1)); };
  for (std::size_t axis = 0; axis < first.shape.size(); ++axis) {
    const auto shape = [&](std::size_t set) { return beside(*originals[set], axis, samples[set]); };
    if (!shape(0) || !all_agree(shape)) continue;
    axis_ = axis;
    return resize(product(*shape(0), 0, shape(0)->size()));
  }
  if (all_agree([&](std::size_t set) { return originals[set]->shape; })) return resize(elements_of(first));
  const auto of_a_sample = [&](std::size_t set) {
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(samples[set], 1));
    return elements_of(*originals[set]) % count == 0 ? elements_of(*originals[set]) / count : 0;
  };
  if (of_a_sample(0) > 0 && all_agree(of_a_sample)) return resize(of_a_sample(0));
  const auto last = [&](std::size_t set) { return originals[set]->shape.empty() ? 1 : originals[set]->shape.back(); };
  if (all_agree(last)) resize(static_cast<std::size_t>(last(0)));
}

std::size_t Yardstick::feature(const Tensor& of, std::size_t i) const {
  if (!axis_) return i % features_.size();
  const std::size_t inner = product(of.shape, *axis_ + 1, of.shape.size());
  const std::size_t block = inner * static_cast<std::size_t>(of.shape[*axis_]);
  return i / block * inner + i % inner;
}

void Yardstick::set_noise(const std::vector<const Tensor*>& first, const std::vector<const Tensor*>& again) {
  std::vector<std::uint64_t> counts(features_.size());
  for (std::size_t k = 0; k < first.size() && k < again.size(); ++k) {
    if (first[k]->shape != again[k]->shape) continue;
    for (std::size_t i = 0; i < elements_of(*first[k]); ++i) {
      const double off = number_in(*first[k], i) - number_in(*again[k], i);
      if (!std::isfinite(off)) continue;
      const std::size_t at = feature(*first[k], i);
      features_[at].noise += off * off;
      ++counts[at];
    }
  }
  for (std::size_t at = 0; at < features_.size(); ++at)
    features_[at].noise = counts[at] > 0 ? std::sqrt(features_[at].noise / static_cast<double>(counts[at])) : 0;
}

double Yardstick::resolution(double value) const {
  return ulps * ulp_of(type_, std::max(std::abs(value), is_share_ ? 1.0 : 0.0));
}

double Yardstick::noise(const Tensor& original, std::size_t i) const {
  return noise_times * features_[feature(original, i)].noise;
}

double Yardstick::allowed(const Tensor& original, std::size_t i, double value) const {
  const Slice& here = features_[feature(original, i)];
  if (!is_floating(type_)) return noise_times * here.noise;
  double all = tolerance_.absolute + resolution(std::max(here.largest, std::abs(value))) + noise_times * here.noise;
  // What a feature was summed from is as large as its neighbours: their rounding, where it hides nothing.
  all += std::min(resolution(whole_.largest), here.spread * neighbours_share);
  all += tolerance_.relative * std::max(here.spread, std::abs(value - here.centre));
  if (!is_resolved(here)) all += resolved_from * resolution(whole_.largest);  // it is no failure, and never equal
  if (here.spread == 0) {
    const double scale = whole_.largest > 0 ? std::min(1.0, whole_.largest) : 1;
    all += constant_absolute_ * scale + tolerance_.relative * std::abs(here.centre);
  }
  return all;
}

std::uint64_t Yardstick::constants() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(features_, [](const Slice& slice) { return slice.numbers > 0 && slice.spread == 0; }));
}

std::uint64_t Yardstick::silent() const {
  return static_cast<std::uint64_t>(std::ranges::count(features_, 0U, &Slice::numbers));
}

std::uint64_t Yardstick::hidden() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(features_, [&](const Slice& slice) {
    return is_share_ && slice.spread > 0 && slice.spread < resolved_from * resolution(0);
  }));
}

double Yardstick::least_spread() const {
  double least = 0;
  for (const Slice& slice : features_) {
    if (slice.spread > 0 && (least == 0 || slice.spread < least)) least = slice.spread;
  }
  return least;
}

// Where values lie around two places far from each other, the spread is their distance, and would hide what either
// does.
bool Yardstick::is_resolved(const Slice& slice) const {
  if (slice.spread == 0) return true;
  const double left = resolution(slice.largest) + tolerance_.absolute;
  if (is_share_) return left <= farthest_ / resolved_from;
  return left <= slice.spread / resolved_from &&
         usual_tolerance(type_).relative * slice.spread <= slice.half / resolved_from;
}

std::string Yardstick::trouble() const {
  if (numbers_ == 0) return "the original gives no number";
  if (!is_floating(type_)) return "";
  if (tolerance_.relative > relative_max)
    return fmt::format("a tolerance of {:g} of the spread is more than {:g}", tolerance_.relative, relative_max);
  std::uint64_t lost = 0;
  Slice worst;
  for (const Slice& slice : features_) {
    if (is_resolved(slice)) continue;
    if (++lost == 1 || slice.half < worst.half) worst = slice;
  }
  if (lost == 0) return "";
  return fmt::format("{}{} by {:.3g} only, around values up to {:.6g}: {} and the tolerance leave {:.3g}",
                     features() > 1 ? fmt::format("of its {} features {} ", features(), lost) : "it ",
                     features() > 1 && lost > 1 ? "vary" : "varies", worst.half, worst.largest, name(type_),
                     resolution(worst.largest) + tolerance_.absolute + tolerance_.relative * worst.spread);
}

}  // namespace sabath
