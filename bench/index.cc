// How long does it take to search 10,000 recipes by the index, and to build it? Beside them: reading all recipes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "index/index.h"
#include "index/query.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

constexpr int recipes = 10'000, folder_size = 500;

// Made once, and removed when the program ends.
class Place {
 public:
  Place() : path_(fs::temp_directory_path() / fmt::format("sabath-bench-index-{}", ::getpid())) {
    for (int i = 0; i < recipes; ++i) {
      const fs::path folder = path_ / "recipes/datasets" / fmt::format("{:02}", i / folder_size);
      fs::create_directories(folder);
      std::ofstream(folder / fmt::format("set{}.json", i)) << recipe(i);
    }
    ::sleep(3);  // until the files count as unchanged
  }
  ~Place() { fs::remove_all(path_); }
  [[nodiscard]] Catalogue catalogue() const { return Catalogue({}, {path_ / "recipes"}); }
  [[nodiscard]] fs::path cache() const { return path_ / "cache"; }

 private:
  static std::string recipe(int i) {
    return fmt::format(
        R"({{"schema":1,"kind":"dataset","name":"set{}","title":"Data set number {} of a generated catalogue",
"abstract":"Simulations of fluid {} at resolution {}, for surrogate models and benchmarks.","licence":"{}",
"metadata":{{"task":"{}","seed":{}}},"fragments":[{{"id":"main","type":"file","urls":["https://data.example.org/{}/f.h5"],
"size":{},"checksum":{{"sha256":"{:064x}"}}}}]}})",
        i, i, i % 97, i % 1024, i % 3 == 0 ? "MIT" : "CC-BY-4.0", i % 5 == 0 ? "regression" : "classification", i * 7,
        i, 1000 + i, i);
  }
  fs::path path_;
};

const Place& place() {
  static const Place made;
  return made;
}

void read_all(benchmark::State& state) {
  const Place& here = place();
  for (auto _ : state) benchmark::DoNotOptimize(here.catalogue().all(std::nullopt).size());
}

void build(benchmark::State& state) {
  const Place& here = place();
  for (auto _ : state) {
    fs::remove_all(here.cache());
    state.counters["read"] = static_cast<double>(CatalogueIndex(here.catalogue(), here.cache()).recipes_read());
  }
}

void search(benchmark::State& state, const RecipeFilter& filter) {
  const Place& here = place();
  benchmark::DoNotOptimize(CatalogueIndex(here.catalogue(), here.cache()).items().size());
  for (auto _ : state) {
    const Catalogue catalogue = here.catalogue();
    const CatalogueIndex index(catalogue, here.cache());
    const RecipeQuery query(filter);
    int found = 0;
    for (const auto& item : index.items()) found += query.fit(item.entry) > 0 ? 1 : 0;
    state.counters["found"] = found;
    state.counters["read"] = static_cast<double>(index.recipes_read());
  }
}

BENCHMARK(read_all)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(build)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(search, word, {.patterns = {"resolution 77"}})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, regex, {.patterns = {"fluid 9[0-6] .*resolution 1.0"}})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, keys, {.tags = {"task=regression"}, .licence = "MIT", .size_min = 5000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sabath
