#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/assets.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> names;
  std::optional<std::uint64_t> threads;
};

// Thrown out of Store::verify, which takes any Error of a reading for a fault of the object that was read.
struct Stopped {};

// The store also names the views' links that it took away together with a bad object.
bool is_link(const Store::BadChunk& bad) { return bad.file == Digest{}; }

// Bad content outweighs missing content: a reader would have believed it. 9: nothing is there; 8: something is.
int exit_of(const Store::VerifyReport& report) {
  if (!report.bad.empty()) return exit_code(FailureKind::content);
  if (report.missing == 0) return 0;
  return exit_code(report.files > report.missing ? FailureKind::partial : FailureKind::offline);
}

Json record_of(const std::string& name, const std::string& root, const Store::VerifyReport& report) {
  Json record{{"name", text_or_null(name)}, {"manifest", text_or_null(root)},
              {"files", report.files},      {"bytes_read", report.bytes_read},
              {"missing", report.missing},  {"missing_paths", report.missing_paths}};
  record["bad"] = Json::array();
  record["removed_links"] = Json::array();
  for (const Store::BadChunk& bad : report.bad) {
    if (is_link(bad)) {
      record["removed_links"].push_back(bad.path);
      continue;
    }
    record["bad"].push_back({{"path", text_or_null(bad.path)},
                             {"digest", bad.file.hash.prefixed()},
                             {"size", bad.file.size_bytes},
                             {"chunk", bad.index},
                             {"offset", bad.offset},
                             {"what", bad.what}});
  }
  return record;
}

void tell(const Context& context, const std::string& name, const Store::VerifyReport& report) {
  std::size_t chunks = 0;
  for (const Store::BadChunk& bad : report.bad) {
    if (is_link(bad)) {
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
    context.say(fmt::format("hint: bad content was put aside; sabath fetch {} gets again what lacks",
                            name.empty() ? "NAME" : name));
  }
  context.say(fmt::format("{}: {} files, {} read: {}", name.empty() ? "the store" : printable(name), report.files,
                          format_bytes(report.bytes_read), result));
}

class Verifier {
 public:
  Verifier(Context& context, const Options& options)
      : context_(context),
        threads_(static_cast<unsigned>(options.threads.value_or(0))),
        store_(try_open_store(context.configuration.session)) {
    if (store_) return;
    throw Error(FailureKind::offline,
                fmt::format("there is no store at {}", context.configuration.session.store.string()),
                "sabath fetch NAME makes it; --store or SABATH_CACHE name another");
  }

  // One asset, or with an empty name the whole store.
  void verify(const std::string& name) {
    std::optional<Manifest> manifest;
    std::string root;
    std::optional<std::uint64_t> total;
    if (!name.empty()) {
      const Recipe recipe = make_catalogue(context_.configuration.session).find(name, std::nullopt);
      manifest.emplace(manifest_of(recipe, store_.get()));
      root = manifest->root().prefixed();
      total = manifest->totals().bytes;
    } else {
      total = store_->usage().object_bytes;
    }
    const Store::VerifyReport report = read_all(name, manifest ? &*manifest : nullptr, total);
    tell(context_, name, report);
    exits_.push_back(exit_of(report));
    records_.push_back(record_of(name, root, report));
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
  Store::VerifyReport read_all(const std::string& name, const Manifest* manifest, std::optional<std::uint64_t> total) {
    const auto progress = context_.make_progress();
    progress->on(event::AssetStarted{name.empty() ? "the store" : name, total, 0});
    progress->on(event::PhaseChanged{"verify"});
    try {
      return store_->verify(manifest, threads_, [&](std::uint64_t bytes) {
        if (context_.stop.stop_requested()) throw Stopped{};
        progress->on(event::BytesReceived{0, bytes});
      });
    } catch (const Stopped&) {
      throw Error(FailureKind::interrupted, "verify was stopped before everything was read",
                  "the same command reads it again from the start");
    }
  }

  Context& context_;
  const unsigned threads_;
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
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace

constexpr Verb verify_verb{
    "verify",
    "read stored content again and compare every hash",
    "sabath verify                    the whole store\n"
    "sabath verify cosmoflow_mini     one asset\n"
    "sabath verify --json | jq '.assets[].bad'",
    "Every bad chunk is named with its file, its number and its byte offset, and its object is put aside so that "
    "nothing "
    "reads it; fetch gets it again. Exit code 7 when content is bad, 8 when a part is missing, 9 when all is.",
    true,
    declare,
};

}  // namespace sabath::cli
