// What does a manifest of 1,000,000 files cost: to build (time, memory), to read wholly, to compare after one change?
// And what does the tree cost over one plain SHA-256? Argument: files a directory (1,000,000: all in one).
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/hash.h"
#include "manifest/file_tree.h"
#include "manifest/manifest.h"

namespace sabath {
namespace {

constexpr std::int64_t files = 1'000'000;

double peak_rss_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Twenty files have three chunks; `changed` has other content.
void fill(ManifestBuilder& builder, std::int64_t per_directory, std::int64_t changed) {
  for (std::int64_t i = 0; i < files; ++i) {
    const RelativePath path = RelativePath::parse(fmt::format("train/n{:06}/image_{:08}.jpg", i / per_directory, i));
    if (i % (files / 20) == 0) {
      const std::vector<Sha256> chunks(3, sha256(fmt::format("{}", i)));
      builder.add_file(path, digest_of_chunks(3 * chunk_size_bytes, chunks), chunks);
    } else {
      builder.add_file(path, {ContentKind::file, 100'000, sha256(fmt::format("{}{}", i, i == changed ? "!" : ""))}, {});
    }
  }
}

class Made {  // two manifest files, made once, that differ in one file
 public:
  explicit Made(std::int64_t per_directory) {
    directory_ = std::filesystem::temp_directory_path() / fmt::format("sabath-bench-{}-{}", ::getpid(), per_directory);
    std::filesystem::create_directories(directory_);
    for (const std::int64_t changed : {std::int64_t{-1}, files / 3}) {
      ManifestBuilder builder;
      fill(builder, per_directory, changed);
      builder.write(changed < 0 ? before() : after());
    }
  }
  ~Made() { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::filesystem::path before() const { return directory_ / "before"; }
  [[nodiscard]] std::filesystem::path after() const { return directory_ / "after"; }

  static const Made& of(const benchmark::State& state) {
    static std::map<std::int64_t, std::unique_ptr<const Made>> all;
    auto& made = all[state.range(0)];
    if (!made) made = std::make_unique<const Made>(state.range(0));
    return *made;
  }

 private:
  std::filesystem::path directory_;
};

void build(benchmark::State& state) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("sabath-bench-{}", ::getpid());
  for (auto _ : state) {
    ManifestBuilder builder;
    fill(builder, state.range(0), -1);
    builder.write(file);
  }
  state.counters["file_MiB"] = static_cast<double>(std::filesystem::file_size(file)) / (1024 * 1024);
  state.counters["peak_MiB"] = peak_rss_mib();
  std::filesystem::remove(file);
}

void open_and_diff(benchmark::State& state) {
  const Made& made = Made::of(state);
  std::int64_t found = 0;
  for (auto _ : state) {
    diff(Manifest::open(made.before()), Manifest::open(made.after()), [&](const Difference&) { ++found; });
  }
  if (found != state.iterations()) state.SkipWithError("not one difference");
}

void load_all(benchmark::State& state) {
  const Made& made = Made::of(state);
  for (auto _ : state) {
    std::uint64_t bytes = 0;
    Manifest::open(made.before()).for_each([&](const Entry& entry) {
      bytes += entry.is_file() ? entry.digest.size_bytes : 0;
    });
    benchmark::DoNotOptimize(bytes);
  }
}

void check_all(benchmark::State& state) {
  const Made& made = Made::of(state);
  for (auto _ : state) Manifest::open(made.before()).check();
}

void find_one(benchmark::State& state) {
  const Manifest manifest = Manifest::open(Made::of(state).before());
  for (std::int64_t i = 0; auto _ : state) {
    i = (i * 7 + 1) % files;
    const auto path = RelativePath::parse(fmt::format("train/n{:06}/image_{:08}.jpg", i / state.range(0), i));
    if (!manifest.find(path)) state.SkipWithError("not found");
  }
}

std::vector<std::byte> one_chunk() {
  std::vector<std::byte> bytes(chunk_size_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2'654'435'761U >> 24);
  return bytes;
}

void hash_by_tree(benchmark::State& state) {
  const auto bytes = one_chunk();
  for (auto _ : state) benchmark::DoNotOptimize(hash_chunk(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

void hash_plain(benchmark::State& state) {
  const auto bytes = one_chunk();
  for (auto _ : state) benchmark::DoNotOptimize(sha256(bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}

BENCHMARK(build)->Arg(1000)->Arg(files)->Arg(1)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(open_and_diff)->Arg(1000)->Arg(files)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(load_all)->Arg(1000)->Arg(files)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(check_all)->Arg(1000)->Arg(files)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(find_one)->Arg(1000)->Arg(files)->Unit(benchmark::kMicrosecond);
BENCHMARK(hash_by_tree)->Unit(benchmark::kMillisecond);
BENCHMARK(hash_plain)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sabath
