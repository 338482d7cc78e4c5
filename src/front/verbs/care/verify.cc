#include "sabath/verbs/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "comm/agree.h"
#include "fetch/hosts/rate_limit.h"
#include "fetch/known_tree.h"
#include "fields/request.h"
#include "sabath/error.h"
#include "session/verify_by_ranks.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/kept_root.h"
#include "verbs/care/repair.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

VerifiedAsset verified(const std::string& name, const Manifest* manifest, VerifyReport report) {
  VerifiedAsset asset;
  asset.name = name;
  asset.manifest = manifest != nullptr ? manifest->root().prefixed() : "";
  asset.files = report.files;
  asset.copies = report.copies;
  asset.bytes_read = report.bytes_read;
  asset.quick = report.quick;
  asset.remembered = report.remembered;
  asset.missing = report.missing;
  asset.missing_paths = std::move(report.missing_paths);
  for (auto& stray : report.strays) asset.strays.push_back({std::move(stray.path), stray.owner});
  return asset;
}

// Bad content outweighs missing content: a reader would have believed it.
int exit_of(const VerifiedAsset& asset, bool missing) {
  if (asset.unmended > 0) return exit_code(FailureKind::content);
  if (!missing) return 0;
  return exit_code(asset.files + asset.remembered > 0 ? FailureKind::partial : FailureKind::offline);
}

int exit_of_both(int one, int other) {
  const int content = exit_code(FailureKind::content);
  if (one == content || other == content) return content;
  if (one == 0 || other == 0 || one == other) return std::max(one, other);
  return exit_code(FailureKind::partial);
}

class Verifier {
 public:
  Verifier(Session& session, const VerificationRequest& request, EventSink& events, std::stop_token stop)
      : settings_(session.settings()),
        ranks_(session.ranks()),
        request_(request),
        events_(events),
        stop_(std::move(stop)),
        limiter_(rate_of_one(request.limit_rate)) {
    together([&] {
      check_threads(request.threads);
      check_span(request.within, "the time within which content was read");
      store_ = open_existing_store(settings_);
    });
  }

  // One asset, or with an empty name the whole store.
  VerificationRecord verify(const std::string& name) {
    std::optional<Manifest> manifest;
    std::optional<std::uint64_t> total;
    std::vector<Recipe> recipes;
    std::optional<Repair> repair;
    together([&] {
      const Catalogue catalogue = make_catalogue(settings_);
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
      if (is_first()) repair.emplace(settings_, *store_, recipes);
    });
    const Manifest* const tree = manifest ? &*manifest : nullptr;
    VerifyReport report = read_all(name, tree, total);
    VerificationRecord record;
    together([&] {  // rank 0 repairs and reports what all ranks found
      if (repair) record = settle(name, tree, *repair, std::move(report));
    });
    if (ranks_ != nullptr) {
      auto exit = static_cast<std::uint64_t>(record.exit);
      ranks_->all_reduce({&exit, 1}, Reduction::maximum);
      record.exit = static_cast<int>(exit);
    }
    return record;
  }

 private:
  [[nodiscard]] bool is_first() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  // Each rank reads at its part of the rate.
  [[nodiscard]] std::uint64_t rate_of_one(std::uint64_t rate) const {
    return ranks_ == nullptr || rate == 0 ? rate : std::max<std::uint64_t>(1, rate / ranks_->size());
  }

  // If one rank cannot do it, no rank does.
  void together(const std::function<void()>& phase) const { ranks_ == nullptr ? phase() : run_agreed(*ranks_, phase); }

  VerificationRecord settle(const std::string& name, const Manifest* manifest, Repair& repair, VerifyReport report) {
    std::vector<BadChunk> bad = std::move(report.bad);
    VerifiedAsset asset = verified(name, manifest, std::move(report));
    if (request_.repair) asset.repaired = repair.run(events_, stop_);
    for (BadChunk& one : bad) {
      const bool mended = repair.is_mended(one);
      if (!mended || !request_.repair) ++asset.unmended;
      asset.bad.push_back(
          {std::move(one.path), one.file, one.index, one.offset, std::move(one.what), one.removed_link, mended});
    }
    const auto lacks = [&] {
      return manifest != nullptr ? !all_present(*store_, *manifest) : !missing_of_assets(*store_).empty();
    };
    const bool missing = asset.missing > 0 && (!request_.repair || lacks());
    const int exit = exit_of(asset, missing);
    return {{std::move(asset)}, exit};
  }

  VerifyReport read_all(const std::string& name, const Manifest* manifest, std::optional<std::uint64_t> total) {
    const unsigned ranks = ranks_ == nullptr ? 1 : ranks_->size();
    const std::string what = name.empty() ? "the store" : name;
    if (total) total = *total / ranks;  // about: what each has to read, its hashes say
    events_.on(
        event::AssetStarted{ranks == 1 ? what : fmt::format("{}, of {} ranks the first", what, ranks), total, 0});
    events_.on(event::PhaseChanged{"verify"});
    VerifyOptions how;
    how.threads = request_.threads;
    how.quick = request_.quick;
    how.within = request_.within;
    how.salvage = request_.repair;
    how.on_bytes = [&](std::uint64_t bytes) {
      if (stop_.stop_requested()) throw VerifyStopped{};
      limiter_.take(bytes, stop_);
      events_.on(event::BytesReceived{0, bytes});
    };
    VerifyReport report =
        ranks_ == nullptr ? sabath::verify(*store_, manifest, how) : verify_by_ranks(*ranks_, *store_, manifest, how);
    events_.on(event::AssetFinished{what});
    return report;
  }

  const SessionSettings& settings_;
  Comm* const ranks_;
  const VerificationRequest& request_;
  EventSink& events_;
  const std::stop_token stop_;
  RateLimiter limiter_;
  std::unique_ptr<Store> store_;
};

std::vector<VerifyFinding> bad_of(const VerifiedAsset& asset) {
  std::vector<VerifyFinding> bad;
  for (const VerifyFinding& finding : asset.bad) {
    if (!finding.removed_link) bad.push_back(finding);
  }
  return bad;
}

std::vector<std::string> removed_links(const VerifiedAsset& asset) {
  std::vector<std::string> links;
  for (const VerifyFinding& finding : asset.bad) {
    if (finding.removed_link) links.push_back(finding.path);
  }
  return links;
}

}  // namespace

VerificationRecord verify(Session& session, const VerificationRequest& request, EventSink& events,
                          std::stop_token stop) {
  Verifier verifier(session, request, events, std::move(stop));
  if (request.names.empty()) return verifier.verify("");
  VerificationRecord record;
  for (const std::string& name : request.names) append(record, verifier.verify(name));
  return record;
}

void append(VerificationRecord& record, VerificationRecord more) {
  std::ranges::move(more.assets, std::back_inserter(record.assets));
  record.exit = exit_of_both(record.exit, more.exit);
}

template <>
struct Described<VerificationRequest> {
  using Of = VerificationRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset; none: everything in the store", .argument = "NAME"),
      SABATH_FIELD(threads, .help = "threads that read and hash (default: one a core)", .maximum = 1024, .letter = 'j',
                   .value = "N"),
      SABATH_FIELD(quick, .help = "compare XXH3 where an earlier verify left one: as many bytes read, less computed"),
      SABATH_FIELD(within,
                   .help = "do not read again what was read and right within this time, e.g. 7d: an interrupted "
                           "verify goes on",
                   .value = "TIME"),
      SABATH_FIELD(limit_rate, .help = "bytes a second at most, e.g. 200M", .unit = "bytes", .value = "RATE"),
      SABATH_FIELD(repair, .help = "fetch again what is bad or missing: of a large file, its bad chunks"),
  };
};

template <>
struct Described<VerifyFinding> {
  using Of = VerifyFinding;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "in the asset, or below the store", .null_if_empty = true),
      SABATH_FIELD_AS("digest", digest.hash, .help = "of the file"),
      SABATH_FIELD_AS("size", digest.size_bytes, .help = "of the file", .unit = "bytes"),
      SABATH_FIELD(chunk, .help = "the number of the bad chunk"),
      SABATH_FIELD(offset, .help = "where the chunk begins", .unit = "bytes"),
      SABATH_FIELD(what, .help = "what is wrong, and what was done about it"),
      SABATH_FIELD(mended, .help = "it is right again, or no asset needs it"),
  };
};

template <>
struct Described<StrayFile> {
  using Of = StrayFile;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "below the store"),
      SABATH_FIELD(owner, .help = "the number of the user whose file it is"),
  };
};

template <>
struct Described<RepairedAsset> {
  using Of = RepairedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(fetched_bytes, .help = "what was fetched for it", .unit = "bytes"),
      SABATH_FIELD(failures, .help = "why it is not whole; none: it is whole again"),
  };
};

template <>
struct Described<VerifiedAsset> {
  using Of = VerifiedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset; null: the whole store", .null_if_empty = true),
      SABATH_FIELD(manifest, .help = "its root; null: the whole store", .null_if_empty = true),
      SABATH_FIELD(files, .help = "files that were read", .unit = "files"),
      SABATH_FIELD(copies, .help = "of these files in a view of their own, which were read as well", .unit = "files"),
      SABATH_FIELD(bytes_read, .help = "of files and copies", .unit = "bytes"),
      SABATH_FIELD(quick, .help = "of the files that were read: compared by XXH3", .unit = "files"),
      SABATH_FIELD(remembered, .help = "were read and right lately, and not read again", .unit = "files"),
      SABATH_FIELD(missing, .help = "files that the store does not have", .unit = "files"),
      SABATH_FIELD(missing_paths, .help = "their paths"),
      SABATH_VALUE("bad", bad_of, .help = "chunks that are bad"),
      SABATH_VALUE("removed_links", removed_links, .help = "links of views to bad objects, which were removed"),
      SABATH_FIELD(strays, .help = "files beside the objects that are none: they were left where they are"),
      SABATH_FIELD(repaired, .help = "assets that were fetched again"),
  };
};

template <>
struct Described<VerificationRecord> {
  using Of = VerificationRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "what was verified: assets, or the whole store as one"),
      SABATH_FIELD(exit,
                   .help = "0: all is right, or was put right; 7: content is bad; 8: a part is missing; 9: all is"),
  };
};

std::string to_json(const VerificationRecord& record) { return record_text(record); }

// Of the two functions of this name; the other one is the store's.
constexpr VerificationRecord (*verify_of_session)(Session&, const VerificationRequest&, EventSink&,
                                                  std::stop_token) = verify;
extern constexpr LibraryVerb verify_call = described<verify_of_session>("verify");

}  // namespace sabath
