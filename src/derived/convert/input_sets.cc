#include "convert/input_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "base/counted.h"
#include "base/wording.h"
#include "convert/arrays.h"
#include "convert/compare.h"
#include "ort/element.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t usual_samples = 32, samples_max = 1 << 20, random_batch = 3;
constexpr std::size_t inputs_max = 256;

double uniform(std::uint64_t& state) {  // in (0, 1]
  return static_cast<double>((next_random(state) >> 11U) + 1) * 0x1p-53;
}

double normal(std::uint64_t& state) {
  const double radius = std::sqrt(-2 * std::log(uniform(state)));
  return radius * std::cos(2 * std::numbers::pi * uniform(state));
}

// Floats: normal, with the mean and the spread of `like`. Whole numbers: between its least and largest, so that an
// index stays one. Half precision: values of `like` in another order.
template <typename Number>
void fill(std::vector<std::byte>& bytes, const Tensor& like, std::uint64_t& state) {
  std::vector<Number> known(like.bytes.size() / sizeof(Number)), values(bytes.size() / sizeof(Number));
  if (!known.empty()) std::memcpy(known.data(), like.bytes.data(), known.size() * sizeof(Number));
  if constexpr (std::is_floating_point_v<Number>) {
    double sum = 0, squares = 0;
    std::size_t finite = 0;
    for (const Number value : known) {
      if (!std::isfinite(value)) continue;
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
      ++finite;
    }
    const double mean = finite > 0 ? sum / static_cast<double>(finite) : 0;
    const double spread =
        finite > 1 ? std::sqrt(std::max(0.0, squares / static_cast<double>(finite) - mean * mean)) : 1;
    for (Number& value : values) value = static_cast<Number>(mean + (spread > 0 ? spread : 1) * normal(state));
  } else {
    const bool half = like.type == TensorType::float16;
    const auto [least, largest] = std::ranges::minmax_element(known);
    const std::uint64_t range =
        known.empty() ? 0 : static_cast<std::uint64_t>(*largest) - static_cast<std::uint64_t>(*least);
    for (Number& value : values) {
      const std::uint64_t drawn = next_random(state);
      if (known.empty()) continue;
      value = half ? known[drawn % known.size()]
                   : static_cast<Number>(static_cast<std::uint64_t>(*least) +
                                         (range + 1 == 0 ? drawn : drawn % (range + 1)));
    }
  }
  std::memcpy(bytes.data(), values.data(), bytes.size());
}

Tensor of_batch(const Tensor& like, std::uint64_t batch) {
  Tensor tensor{like.type, like.shape, {}};
  tensor.shape.front() = static_cast<std::int64_t>(batch);
  tensor.bytes.resize(bytes_of(tensor.type, tensor.shape, array_bytes_max));
  return tensor;
}

// `count` of `there`, each at most once, ascending.
std::vector<std::uint64_t> drawn(std::uint64_t there, std::uint64_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> rows;
  std::uint64_t state = seed;
  for (std::uint64_t i = 0; i < there && rows.size() < count; ++i) {  // Knuth's algorithm S
    if (next_random(state) % (there - i) < count - rows.size()) rows.push_back(i);
  }
  return rows;
}

std::vector<Tensor> arrays_of(const std::vector<fs::path>& files) {
  std::vector<Tensor> arrays;
  for (const fs::path& file : files) arrays.push_back(read_array(file));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].shape.empty() || arrays[i].shape.front() == 0)
      throw Error(FailureKind::usage, printable(files[i].native(), 4096) + " has no samples");
    if (arrays[i].shape.front() != arrays[0].shape.front()) {
      throw Error(FailureKind::usage,
                  fmt::format("{} has {}, and {} has {}", printable(files[i].native(), 4096),
                              counted(static_cast<std::uint64_t>(arrays[i].shape.front()), "sample"),
                              printable(files[0].native(), 4096), arrays[0].shape.front()));
    }
  }
  return arrays;
}

std::uint64_t samples_in(const std::vector<fs::path>& files) {
  const std::uint64_t samples = rows_of(files.front());
  for (const fs::path& file : files) {
    if (rows_of(file) != samples) {
      throw Error(FailureKind::usage,
                  fmt::format("{} has {}, and {} has {}", printable(file.native(), 4096),
                              counted(rows_of(file), "sample"), printable(files.front().native(), 4096), samples));
    }
  }
  if (samples == 0) throw Error(FailureKind::usage, printable(files.front().native(), 4096) + " has no samples");
  return samples;
}

void check_alike(const std::vector<Tensor>& dummy, const std::vector<Tensor>& data, const InputChoice& choice) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool alike = dummy[i].type == data[i].type && dummy[i].shape.size() == data[i].shape.size();
    if (alike) continue;
    throw Error(FailureKind::usage,
                fmt::format("{} has {} and {} axes, and {} has {} and {}", printable(choice.dummy[i].native(), 4096),
                            name(dummy[i].type), dummy[i].shape.size(), printable(choice.data[i].native(), 4096),
                            name(data[i].type), data[i].shape.size()),
                "both are inputs of one model");
  }
}

class SetMaker {
 public:
  explicit SetMaker(const InputChoice& choice) : choice_(choice) {}

  InputSets run() {
    if (choice_.dummy.empty() && choice_.data.empty())
      throw Error(FailureKind::usage, "a model's inputs are not said",
                  "name .npy files with a dummy input, data, or both");
    const std::size_t inputs = std::max(choice_.dummy.size(), choice_.data.size());
    const bool both = !choice_.dummy.empty() && !choice_.data.empty();
    if (inputs > inputs_max || (both && choice_.dummy.size() != choice_.data.size())) {
      throw Error(FailureKind::usage,
                  fmt::format("{} given as the dummy input, and {} as data",
                              counted(choice_.dummy.size(), "array is", "arrays are"), choice_.data.size()),
                  "a model has one for each of its inputs");
    }
    std::vector<Tensor> dummy = arrays_of(choice_.dummy);
    if (dummy.empty()) {
      for (const fs::path& file : choice_.data) dummy.push_back(read_rows(file, {0}));
    }
    made_.sets.push_back({"dummy", std::move(dummy)});
    if (!choice_.data.empty()) add_data();
    add_random();
    add_zeros();
    if (choice_.any_batch) add_one();
    return std::move(made_);
  }

 private:
  [[nodiscard]] const InputSet& dummy() const { return made_.sets.front(); }
  [[nodiscard]] const InputSet& best() const { return made_.sets[choice_.data.empty() ? 0 : 1]; }
  [[nodiscard]] std::uint64_t batch(std::uint64_t wanted) const {
    return choice_.any_batch ? wanted : static_cast<std::uint64_t>(dummy().batch());
  }

  void add_data() {
    const std::uint64_t there = samples_in(choice_.data);
    if (choice_.samples > there) {
      throw Error(FailureKind::usage,
                  fmt::format("{} wanted, and {} has {}", counted(choice_.samples, "sample is", "samples are"),
                              printable(choice_.data.front().native(), 4096), there));
    }
    std::uint64_t count = std::min({choice_.samples > 0 ? choice_.samples : usual_samples, there, samples_max});
    if (!choice_.any_batch) {
      count = batch(0);
      if (count > there)
        throw Error(FailureKind::usage,
                    fmt::format("the dummy input has {}, and the data have {}", counted(count, "sample"), there));
    }
    made_.rows = drawn(there, count, choice_.seed);
    InputSet set{"data", {}};
    for (const fs::path& file : choice_.data) set.inputs.push_back(read_rows(file, made_.rows));
    check_alike(dummy().inputs, set.inputs, choice_);
    made_.sets.push_back(std::move(set));
  }

  void add_random() {
    std::uint64_t state = ~choice_.seed;
    InputSet set{"random", {}};
    for (const Tensor& like : best().inputs) {
      Tensor& tensor = set.inputs.emplace_back(of_batch(like, batch(random_batch)));
      with_element(like.type, [&](auto number) { fill<decltype(number)>(tensor.bytes, like, state); });
    }
    made_.sets.push_back(std::move(set));
  }

  void add_zeros() {
    InputSet set{"zeros", {}};
    for (const Tensor& like : best().inputs) set.inputs.push_back(of_batch(like, batch(1)));
    made_.sets.push_back(std::move(set));
  }

  // The first sample by itself.
  void add_one() {
    InputSet set{"one", {}};
    for (const Tensor& like : best().inputs) {
      Tensor& tensor = set.inputs.emplace_back(of_batch(like, 1));
      std::copy_n(like.bytes.begin(), tensor.bytes.size(), tensor.bytes.begin());
    }
    made_.sets.push_back(std::move(set));
  }

  const InputChoice& choice_;
  InputSets made_;
};

}  // namespace

std::uint64_t next_random(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

InputSets make_input_sets(const InputChoice& choice) { return SetMaker(choice).run(); }

}  // namespace sabath
