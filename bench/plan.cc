// What does a plan of 1,000,000 files cost, when none of them is here, and when a tenth of them is?
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "fetch/hosts/source_key.h"
#include "fetch/plan.h"

namespace sabath {
namespace {

constexpr std::uint64_t files = 1'000'000, size = 4096;

class Known {  // a store that knows the asset's manifest, and has the first `here` of its files by name
 public:
  explicit Known(std::uint64_t here) {
    directory_ = std::filesystem::temp_directory_path() / fmt::format("sabath-bench-plan-{}-{}", ::getpid(), here);
    store = Store::open(directory_ / "store", true);
    recipe.name = "many";
    Fragment fragment;
    fragment.id = "main";
    fragment.type = FragmentType::archive;
    fragment.urls.push_back(Url::parse("https://data.example/many.tar"));
    fragment.size_bytes = files * size;
    recipe.fragments.push_back(fragment);
    ManifestBuilder builder;
    for (std::uint64_t i = 0; i < files; ++i) {
      const Digest digest{ContentKind::file, size, sha256(fmt::format("{}", i))};
      builder.add_file(RelativePath::parse(fmt::format("d{:04}/f{:06}", i / 1000, i)), digest, {});
      if (i >= here) continue;
      make_directories(store->object_path(digest).parent_path());
      const Fd made = open_file(store->object_path(digest), O_WRONLY | O_CREAT);
    }
    const Sha256 root = store->put_manifest(builder);
    store->put_ref(source_key(recipe, {}), {root, "checksum", {}, 0, "", ""});
  }
  ~Known() {
    store.reset();
    remove_tree(directory_);
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  std::unique_ptr<Store> store;
  Recipe recipe;

 private:
  std::filesystem::path directory_;
};

void plan(benchmark::State& state) {
  const auto here = static_cast<std::uint64_t>(state.range(0));
  Known known(here);
  const RewriteRules rules;
  for (auto _ : state) {
    const AssetPlan plan = plan_asset(known.store.get(), known.recipe, {}, {rules, nullptr, false});
    if (plan.told.by_source.files != here || plan.told.to_fetch.files != files - here) state.SkipWithError("wrong");
    benchmark::DoNotOptimize(plan);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(plan)->Arg(0)->Arg(100'000)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace sabath
