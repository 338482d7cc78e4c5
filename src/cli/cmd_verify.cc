#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/text.h"
#include "cli/age.h"
#include "cli/render.h"
#include "cli/repair.h"
#include "cli/verbs.h"
#include "comm/agree.h"
#include "fetch/asset.h"
#include "fetch/rate_limit.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "session/verify_by_ranks.h"
#include "verbs/assets.h"

namespace sabath::cli {
namespace {
namespace cmd_verify {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> names;
  std::optional<std::uint64_t> threads, rate_limit;
  std::optional<std::string> within;
  bool quick = false, repair = false;
  bool alone = false;  // seen before the line is parsed: cli/ranks.h
};

// What was found, and what has become of it since.
struct Found {
  VerifyReport report;
  std::vector<Repair::Asset> repaired;
  std::size_t unmended = 0;  // of report.bad
  bool missing = false;
};

// Bad content outweighs missing content: a reader would have believed it. 9: nothing is there; 8: something is.
int exit_of(const Found& found) {
  if (found.unmended > 0) return exit_code(FailureKind::content);
  if (!found.missing) return 0;
  const auto& report = found.report;
  return exit_code(report.files + report.remembered > report.missing ? FailureKind::partial : FailureKind::offline);
}

Json record_of(const std::string& name, const std::string& root, const Found& found, Repair& repair) {
  const VerifyReport& report = found.report;
  Json record{{"name", text_or_null(name)}, {"manifest", text_or_null(root)},
              {"files", report.files},      {"bytes_read", report.bytes_read},
              {"quick", report.quick},      {"remembered", report.remembered},
              {"missing", report.missing},  {"missing_paths", report.missing_paths}};
  record["bad"] = Json::array();
  record["removed_links"] = Json::array();
  for (const BadChunk& bad : report.bad) {
    if (bad.removed_link) {
      record["removed_links"].push_back(bad.path);
      continue;
    }
    record["bad"].push_back({{"path", text_or_null(bad.path)},
                             {"digest", bad.file.hash.prefixed()},
                             {"size", bad.file.size_bytes},
                             {"chunk", bad.index},
                             {"offset", bad.offset},
                             {"what", bad.what},
                             {"mended", repair.is_mended(bad)}});
  }
  record["repaired"] = Json::array();
  for (const auto& asset : found.repaired) {
    record["repaired"].push_back(
        {{"name", asset.name}, {"fetched_bytes", asset.fetched_bytes}, {"failures", asset.failures}});
  }
  return record;
}

void tell(const Context& context, const std::string& name, const Found& found) {
  const VerifyReport& report = found.report;
  std::size_t chunks = 0;
  for (const BadChunk& bad : report.bad) {
    if (bad.removed_link) {
      if (context.presentation.verbose) context.say(fmt::format("note: {}: {}", printable(bad.path, 4096), bad.what));
      continue;
    }
    const std::string place = bad.path.empty() ? bad.file.hash.prefixed() : bad.path;
    context.warn(fmt::format("{}: chunk {} at byte {}: {}", printable(place, 4096), bad.index, bad.offset, bad.what));
    ++chunks;
  }
  for (const std::string& path : report.missing_paths) context.warn(fmt::format("{}: missing", printable(path, 4096)));
  std::string result = "verified";
  if (!report.bad.empty() || report.missing > 0) {
    result = fmt::format("{} bad chunks, {} files missing", chunks, report.missing);
    if (found.repaired.empty())
      context.say(
          fmt::format("hint: bad content was put aside; sabath verify --repair, or sabath fetch {}, gets again "
                      "what lacks",
                      name.empty() ? "NAME" : name));
  }
  if (report.remembered > 0) result += fmt::format("; {} files were read lately, and not again", report.remembered);
  context.say(fmt::format("{}: {} files, {} read{}: {}", name.empty() ? "the store" : printable(name), report.files,
                          format_bytes(report.bytes_read),
                          report.quick > 0 ? fmt::format(", {} compared by XXH3", report.quick) : "", result));
  for (const auto& asset : found.repaired) {
    if (asset.failures.empty())
      context.say(fmt::format("{}: repaired, {} fetched", printable(asset.name), format_bytes(asset.fetched_bytes)));
    for (const auto& failure : asset.failures)
      context.warn(fmt::format("{}: not repaired: {}", printable(asset.name), failure));
  }
  if (found.unmended > 0 && !found.repaired.empty())
    context.warn(
        fmt::format("{} findings could not be repaired: no recipe that is known here has them", found.unmended));
}

class Verifier {
 public:
  Verifier(Context& context, const Options& options)
      : context_(context),
        options_(options),
        limiter_(rate_of_one(options.rate_limit.value_or(0))),
        within_(parse_age(options.within, "--within")) {
    together([&] {
      store_ = try_open_store(context.configuration.session);
      if (store_) return;
      throw Error(FailureKind::offline,
                  fmt::format("there is no store at {}", context.configuration.session.store.string()),
                  "sabath fetch NAME makes it; --store or SABATH_CACHE name another");
    });
  }

  // One asset, or with an empty name the whole store.
  void verify(const std::string& name) {
    std::optional<Manifest> manifest;
    std::optional<std::uint64_t> total;
    std::vector<Recipe> recipes;
    std::optional<Repair> repair;
    together([&] {
      const Catalogue catalogue = make_catalogue(context_.configuration.session);
      if (!name.empty()) {
        recipes.push_back(catalogue.find(name, std::nullopt));
        manifest.emplace(manifest_of(recipes.front(), store_.get()));
        total = manifest->totals().bytes;
      } else {
        total = store_->usage().object_bytes;
        for (auto& listed : catalogue.all(std::nullopt)) {
          if (listed.recipe) recipes.push_back(std::move(*listed.recipe));
        }
      }
      if (context_.speaks()) repair.emplace(context_, *store_, recipes);
    });
    Found found;
    found.report = read_all(name, manifest ? &*manifest : nullptr, total);
    together([&] {  // what was found is rank 0's to mend and to tell
      if (repair) settle(name, manifest ? &*manifest : nullptr, *repair, found);
    });
  }

  int finish() {
    int exit = 0;
    for (const int one : exits_) {
      if (exit == 0 || one == exit_code(FailureKind::content)) exit = one;
      if (one != exit && one != 0 && exit != exit_code(FailureKind::content)) exit = exit_code(FailureKind::partial);
    }
    if (context_.presentation.json) context_.out.record({{"schema", 1}, {"assets", records_}, {"exit", exit}});
    return exit;
  }

 private:
  // Each rank reads at its part of the rate.
  [[nodiscard]] std::uint64_t rate_of_one(std::uint64_t rate) const {
    return context_.ranks == nullptr || rate == 0 ? rate : std::max<std::uint64_t>(1, rate / context_.ranks->size());
  }

  // What one rank cannot do, none does.
  void together(const std::function<void()>& phase) {
    context_.ranks == nullptr ? phase() : run_agreed(*context_.ranks, phase);
  }

  void settle(const std::string& name, const Manifest* manifest, Repair& repair, Found& found) {
    found.missing = found.report.missing > 0;
    found.unmended = found.report.bad.size();
    if (options_.repair) {
      found.repaired = repair.run();
      found.unmended = static_cast<std::size_t>(
          std::ranges::count_if(found.report.bad, [&](const auto& bad) { return !repair.is_mended(bad); }));
      const auto lacks = [&] {
        return manifest != nullptr ? !all_present(*store_, *manifest) : !missing_of_assets(*store_).empty();
      };
      found.missing = found.missing && lacks();
    }
    tell(context_, name, found);
    exits_.push_back(exit_of(found));
    records_.push_back(record_of(name, manifest != nullptr ? manifest->root().prefixed() : "", found, repair));
  }

  VerifyReport read_all(const std::string& name, const Manifest* manifest, std::optional<std::uint64_t> total) {
    const unsigned ranks = context_.ranks == nullptr ? 1 : context_.ranks->size();
    const auto progress = context_.make_progress();
    const std::string what = name.empty() ? "the store" : name;
    if (total) total = *total / ranks;  // about: what each has to read, its hashes say
    progress->on(
        event::AssetStarted{ranks == 1 ? what : fmt::format("{}, of {} ranks the first", what, ranks), total, 0});
    progress->on(event::PhaseChanged{"verify"});
    VerifyOptions how;
    how.threads = static_cast<unsigned>(options_.threads.value_or(0));
    how.quick = options_.quick;
    how.within = within_;
    how.salvage = options_.repair;
    how.on_bytes = [&](std::uint64_t bytes) {
      if (context_.stop.stop_requested()) throw VerifyStopped{};
      limiter_.take(bytes, context_.stop);
      progress->on(event::BytesReceived{0, bytes});
    };
    return context_.ranks == nullptr ? sabath::verify(*store_, manifest, how)
                                     : verify_by_ranks(*context_.ranks, *store_, manifest, how);
  }

  Context& context_;
  const Options& options_;
  RateLimiter limiter_;
  const std::optional<std::chrono::seconds> within_;
  std::unique_ptr<Store> store_;
  std::vector<int> exits_;
  Json records_ = Json::array();
};

int run(Context& context, const Options& options) {
  Verifier verifier(context, options);
  if (options.names.empty()) verifier.verify("");
  for (const std::string& name : options.names) verifier.verify(name);
  return verifier.finish();
}

Action declare(OptionSet& set) {
  const auto options = std::make_shared<Options>();
  set.arguments("NAME", options->names, false, "an asset; none: everything in the store");
  set.count("-j,--threads", "N", 1024, options->threads, "threads that read and hash (default: one a core)");
  set.flag("--quick", options->quick,
           "compare XXH3 where an earlier verify left one: as many bytes read, less computed");
  set.option("--within", "TIME", options->within,
             "do not read again what was read and right within this time, e.g. 7d: an interrupted verify goes on");
  set.size("--limit-rate", "RATE", options->rate_limit, "bytes a second at most, e.g. 200M");
  set.flag("--alone", options->alone, "under mpirun: this process by itself, not one of the ranks");
  set.flag("--repair", options->repair, "fetch again what is bad or missing: of a large file, its bad chunks");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace cmd_verify
}  // namespace

constexpr Verb verify_verb{
    "verify",
    "read stored content again and compare every hash",
    "sabath verify                    the whole store\n"
    "sabath verify cosmoflow_mini     one asset\n"
    "sabath verify --quick            a look that costs little more than reading\n"
    "sabath verify --within 7d --limit-rate 200M   a bit each night\n"
    "sabath verify --repair           and fetch again what is bad\n"
    "mpirun sabath verify             each rank reads its part of the store\n"
    "sabath verify --json | jq '.assets[].bad'",
    "Every bad chunk is named with its file, its number and its byte offset, and its object is put aside so that "
    "nothing reads it; --repair, or fetch, gets it again. Every byte is read, unless --within says otherwise. Exit "
    "code "
    "0 when all is right, or was put right by --repair; 7 when content is bad, 8 when a part is missing, 9 when all "
    "is.",
    true,
    cmd_verify::declare,
    true,
};

}  // namespace sabath::cli
