// What do packs cost and save? Publishing, looking up and reading small files of 4 KiB from packs; their peer in the
// same run is the same store without packs, where each is a file of its own. Argument: files (objects: a twentieth of
// them).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>

#include "base/file.h"
#include "store/store.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::size_t content_bytes = 4096, group_files = 1 << 14;

double peak_rss_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

class Filled {
 public:
  Filled(std::int64_t files, bool packs)
      : directory_(fs::temp_directory_path() / fmt::format("sabath-bench-packs-{}-{}-{}", ::getpid(), files, packs)) {
    fs::create_directories(directory_);
    std::ofstream(directory_ / "format") << fmt::format(
        R"({{"format":"sabath-store","version":1,"pack_threshold_bytes":{}}})", packs ? 1 << 20 : 0);
    store_ = Store::open(directory_, false);
    std::mt19937_64 random(7);
    std::vector<std::uint64_t> content(content_bytes / sizeof(std::uint64_t));
    const auto begin = Clock::now();
    for (std::int64_t done = 0; done < files;) {
      std::vector<std::unique_ptr<ObjectWriter>> group;
      for (; group.size() < group_files && done < files; ++done) {
        for (auto& word : content) word = random();
        auto writer = store_->write_object(static_cast<std::uint64_t>(files));
        writer->write(std::as_bytes(std::span(content)));
        digests_.push_back(writer->finish().digest);
        group.push_back(std::move(writer));
      }
      store_->publish(std::move(group), static_cast<std::uint64_t>(files));
    }
    publish_s = std::chrono::duration<double>(Clock::now() - begin).count();
    inodes = static_cast<double>(store_->usage().inodes);
    reopen();
  }
  ~Filled() { remove_tree(directory_); }
  void reopen() {
    store_.reset();
    store_ = Store::open(directory_, false);
  }
  static Filled& of(const benchmark::State& state, bool packs) {
    static std::map<std::pair<std::int64_t, bool>, std::unique_ptr<Filled>> all;
    auto& made = all[{state.range(0), packs}];
    if (!made) made = std::make_unique<Filled>(state.range(0), packs);
    return *made;
  }
  [[nodiscard]] Store& store() { return *store_; }
  [[nodiscard]] const std::vector<Digest>& digests() const { return digests_; }
  double publish_s = 0, inodes = 0;

 private:
  const fs::path directory_;
  std::unique_ptr<Store> store_;
  std::vector<Digest> digests_;
};

// The first of a process: indexes are read, too.
void look_up(benchmark::State& state, bool packs) {
  Filled& filled = Filled::of(state, packs);
  for (auto _ : state) {
    filled.reopen();
    for (const auto& digest : filled.digests()) {
      if (!filled.store().present(digest)) state.SkipWithError("it is not there");
    }
  }
  state.counters["files_per_s"] =
      benchmark::Counter(static_cast<double>(filled.digests().size()), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["publish_s"] = filled.publish_s;
  state.counters["inodes"] = filled.inodes;
  state.counters["peak_MiB"] = peak_rss_mib();
}

void verify_all(benchmark::State& state, bool packs) {
  Filled& filled = Filled::of(state, packs);
  for (auto _ : state) {
    if (!filled.store().verify(nullptr, 1, {}).bad.empty()) state.SkipWithError("it is not right");
  }
}

void sizes(benchmark::internal::Benchmark* bench, std::int64_t divisor) {
  const bool smoke = std::getenv("SABATH_BENCH_SMOKE") != nullptr;
  bench->Unit(benchmark::kMillisecond)->Iterations(1)->Arg((smoke ? 20'000 : 1'000'000) / divisor);
}
BENCHMARK_CAPTURE(look_up, packs, true)->Apply([](auto* bench) { sizes(bench, 1); });
BENCHMARK_CAPTURE(verify_all, packs, true)->Apply([](auto* bench) { sizes(bench, 1); });
BENCHMARK_CAPTURE(look_up, objects, false)->Apply([](auto* bench) { sizes(bench, 20); });
BENCHMARK_CAPTURE(verify_all, objects, false)->Apply([](auto* bench) { sizes(bench, 20); });

}  // namespace
}  // namespace sabath
