// What does it cost to decide what to collect, in a store of 1,000,000 objects? Its peer in the same run: find(1) over
// the same names, which opens nothing and decides nothing. Argument: objects.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/hash.h"
#include "store/collect/collect.h"
#include "store/disk/layout.h"
#include "store/store.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

double peak_rss_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Half of the objects belong to an asset that may go, half to one that stays; they share nothing. The objects are empty
// files with the names of others: the benchmark does not read them.
class Filled {
 public:
  explicit Filled(std::int64_t objects)
      : directory_(fs::temp_directory_path() / fmt::format("sabath-bench-{}-{}", ::getpid(), objects)),
        store_(Store::open(directory_, true)) {
    const Layout layout(directory_);
    for (int half = 0; half < 2; ++half) {
      ManifestBuilder builder;
      for (std::int64_t i = half; i < objects; i += 2) {
        const Digest digest{ContentKind::file, 100'000, sha256(fmt::format("{}", i))};
        builder.add_file(RelativePath::parse(fmt::format("train/n{:04}/image_{:08}.jpg", i / 1000, i)), digest, {});
        const auto file = layout.object(digest);
        if (i < 4096) make_directories(file.parent_path());
        const Fd made = open_file(file, O_WRONLY | O_CREAT);
      }
      const Sha256 root = store_->put_manifest(builder);
      store_->put_ref(sha256(fmt::format("asset {}", half)), {root, "checksum", {}, 0, "https://a.example/x", ""});
    }
  }
  ~Filled() { remove_tree(directory_); }
  static Filled& of(const benchmark::State& state) {
    static std::map<std::int64_t, std::unique_ptr<Filled>> all;
    auto& made = all[state.range(0)];
    if (!made) made = std::make_unique<Filled>(state.range(0));
    return *made;
  }
  [[nodiscard]] Store& store() { return *store_; }
  [[nodiscard]] const fs::path& directory() const { return directory_; }

 private:
  const fs::path directory_;
  std::unique_ptr<Store> store_;
};

void dry_run(benchmark::State& state) {
  Filled& filled = Filled::of(state);
  CollectPolicy policy;
  policy.dry_run = true;
  policy.size_max = static_cast<std::uint64_t>(state.range(0)) * 60'000;  // of 100,000 each
  for (auto _ : state) {
    const auto report = collect(filled.store(), policy);
    if (report.collected.size() != 1 || report.objects != static_cast<std::uint64_t>(state.range(0)))
      state.SkipWithError("not what was to go");
  }
  state.counters["peak_MiB"] = peak_rss_mib();
}

void find_names(benchmark::State& state) {
  const std::string command =
      fmt::format("find {}/objects -type f | wc -l > /dev/null", Filled::of(state).directory().native());
  for (auto _ : state) {
    if (std::system(command.c_str()) != 0) state.SkipWithError("find");
  }
}

// Making the objects takes most of the time: a smoke test makes few.
void sizes(benchmark::internal::Benchmark* bench) {
  const bool smoke = std::getenv("SABATH_BENCH_SMOKE") != nullptr;
  bench->Unit(benchmark::kMillisecond)->Iterations(1)->Arg(smoke ? 10'000 : 100'000);
  if (!smoke) bench->Arg(1'000'000);
}
BENCHMARK(dry_run)->Apply(sizes);
BENCHMARK(find_names)->Apply(sizes);

}  // namespace
}  // namespace sabath
