#include "fetch/asset.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

#include "base/asked_file.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/text.h"
#include "base/wording.h"
#include "fetch/asset_meter.h"
#include "fetch/decide/selection.h"
#include "fetch/fragments.h"
#include "fetch/git/git.h"
#include "fetch/hosts/by_digest.h"
#include "fetch/hosts/ledger.h"
#include "fetch/hosts/other_version.h"
#include "fetch/hosts/source_key.h"
#include "fetch/hosts/warm_up.h"
#include "fetch/known_tree.h"
#include "fetch/no_source.h"
#include "fetch/shown_view.h"
#include "fetch/transfer/swarm.h"
#include "store/lookup.h"

namespace sabath {
namespace {

class AssetFetch {
 public:
  AssetFetch(FetchContext& context, AssetMeter& meter, const Recipe& recipe, AssetRequest& request, AssetRecord& record)
      : context_(context),
        meter_(meter),
        recipe_(recipe),
        request_(request),
        record_(record),
        pin_(request.pin ? request.pin : recipe.manifest),
        selection_(selection_of(recipe, request)) {
    record.selection = selection_;
  }

  void run() {
    if (selection_.empty() && !request_.selection.empty() && !is_code(recipe_.kind))
      context_.events.on(event::Warning{fmt::format("{} is fetched whole: it has no parts to choose", recipe_.name)});
    const std::optional<Manifest> pinned = is_pinned(recipe_, request_) ? pinned_manifest() : std::nullopt;
    const KnownTree known = know(pinned);
    const auto result = selection_.empty() ? whole(known) : part(known, pinned ? &*pinned : nullptr);
    if (result) finish(*result);
  }

 private:
  KnownTree know(const std::optional<Manifest>& pinned) {
    KnownTree known = know_tree(&context_.store, recipe_, request_, context_.force, pinned ? &*pinned : nullptr);
    if (!known.doubt.empty()) context_.events.on(event::Warning{known.doubt});
    if (!known.trusted_by.empty()) record_.trusted_by = known.trusted_by;
    return known;
  }

  // The manifest of what is here, or was fetched. nullopt: the record says all.
  std::optional<Manifest> whole(const KnownTree& known) {
    const Manifest* const manifest = known.manifest();
    if (known.suffices) {
      if (const auto view = view_of_another(context_.store, *manifest)) return finish_at(*manifest, *view);
      if (bring(*manifest, known.level)) return kept_manifest(manifest->root());
    }
    if (request_.offline && request_.locals.empty()) refuse_offline(manifest);
    // A learnt root that only lost bytes is fetched by its chunks; one that is doubted is learnt anew.
    auto result = fetch(known.binds ? manifest : nullptr);
    if (!result) return result;
    if (known.binds && result->root() != manifest->root())
      refuse_other_root(context_.store, recipe_.name, *manifest, result->root());
    if (!is_pinned(recipe_, request_)) learn(result->root());
    return result;
  }

  // A part has a root of its own, learnt under a key of its own: nothing takes it for the whole.
  std::optional<Manifest> part(const KnownTree& known, const Manifest* pinned) {
    if (is_pinned(recipe_, request_) && pinned == nullptr) refuse_unprovable_part(recipe_.name);
    std::optional<Manifest> narrowed;
    if (known.suffices && known.narrowed) narrowed = chosen_of(*known.manifest());
    const Manifest* const before = !known.suffices ? nullptr : narrowed ? &*narrowed : known.manifest();
    const auto ref_to = [&](const Sha256& root) {
      return Ref{root, record_.trusted_by, {}, std::time(nullptr), source_of(recipe_), to_text(selection_)};
    };
    if (before != nullptr && bring(*before, known.level)) {
      note_part(context_.store, recipe_, ref_to(before->root()));
      return kept_manifest(before->root());
    }
    if (request_.offline) refuse_offline(before);
    auto result = fetch(pinned != nullptr ? pinned : before);
    if (!result) return result;
    if (result->totals().files + result->totals().symlinks == 0) refuse_nothing();
    if (pinned != nullptr)
      refuse_unless_part(recipe_.name, *pinned, *result);
    else if (before != nullptr && result->root() != before->root())
      refuse_other_root(context_.store, recipe_.name, *before, result->root());
    const Ref ref = ref_to(result->root());
    if (pinned == nullptr)
      sabath::learn(context_.store, recipe_, ref, selection_);
    else
      context_.store.put_ref(source_key(recipe_, context_.store.source_names(), selection_, pinned->root()), ref);
    note_part(context_.store, recipe_, ref);
    return result;
  }

  // The part that patterns choose of a whole, all of whose names are known.
  Manifest chosen_of(const Manifest& whole) {
    ManifestBuilder builder;
    add_selected(builder, whole, selection_);
    auto part = kept_manifest(context_.store.put_manifest(builder));
    if (part.totals().files + part.totals().symlinks == 0) refuse_nothing();
    return part;
  }

  Manifest kept_manifest(const Sha256& root) {
    auto manifest = context_.store.manifest(root);
    if (!manifest) throw Error(FailureKind::internal, "a manifest vanished as it was written");
    return std::move(*manifest);
  }

  // True, and reported, if all of it is here; other stores give the content that they have.
  bool bring(const Manifest& manifest, Reuse level) {
    bring_all(context_.store, manifest);
    if (!all_present(context_.store, manifest)) return false;
    context_.events.on(event::BytesReused{manifest.totals().bytes, level});
    return true;
  }

  // The manifest of the pin: from the store, a local file, or any of its URLs, which need not be trusted.
  std::optional<Manifest> pinned_manifest() {
    record_.trusted_by = "pinned";
    if (!request_.manifest_file.empty()) {
      refuse_directory(request_.manifest_file);
      auto bytes = try_read_text(request_.manifest_file, document_size_max);
      if (!bytes)
        throw Error(FailureKind::usage, fmt::format("there is no manifest file {}", request_.manifest_file),
                    fmt::format("`{}` makes one", verb_text("manifest create")));
      return context_.store.manifest(take_manifest(std::move(*bytes), request_.manifest_file));
    }
    if (auto manifest = context_.store.manifest(pin_->digest)) return manifest;
    if (request_.offline) return std::nullopt;
    FileJob job;
    job.name = fmt::format("the manifest of {}", recipe_.name);
    for (const auto& url : pin_->urls) job.urls.push_back(rewritten(url, context_.rewrites));
    for (const auto& fragment : recipe_.fragments) add_stores(fragment.urls, job.urls);
    for (auto& url : job.urls) url = is_store(url) ? manifest_at(url, pin_->digest) : url;
    if (job.urls.empty()) return std::nullopt;  // the sources are read, and must give this root
    job.source = job.urls.front();
    job.inspect = [this](std::string bytes, const std::string& source) {
      static_cast<void>(take_manifest(std::move(bytes), source));
      return false;
    };
    warm_up_.emplace(context_, recipe_.fragments);
    const auto outcome = fetch_all(context_, {job}).front();
    if (outcome.failure && pin_->urls.empty()) return std::nullopt;  // no store that was asked has it
    if (outcome.failure) throw Error(*outcome.failure);
    return context_.store.manifest(pin_->digest);
  }

  // Other stores among the sources of content are asked for the manifest, too; once each.
  void add_stores(const std::vector<Url>& sources, std::vector<Url>& urls) const {
    for (const auto& each : sources) {
      const Url url = rewritten(each, context_.rewrites);
      if (is_store(url) && std::find(urls.begin(), urls.end(), url) == urls.end()) urls.push_back(url);
    }
  }

  // Checked wholly, and kept.
  Sha256 take_manifest(std::string bytes, const std::string& source) {
    try {
      const Sha256 root = Manifest::parse(bytes).root();
      if (pin_ && pin_->digest != root) {
        throw Error(FailureKind::content,
                    fmt::format("it has the root {}, and the recipe pins {}", root.hex(), pin_->digest.hex()),
                    "get the manifest of this version, or correct the pin");
      }
      return context_.store.put_manifest(bytes, root);
    } catch (const Error& error) {
      Failure failure = error.failure();
      failure.message = fmt::format("{}: {}", source, failure.message);
      throw Error(failure);
    }
  }

  // nullopt: some of it could not be fetched, and the record names it.
  std::optional<Manifest> fetch(const Manifest* expected) {
    refuse_without_sources(recipe_);
    announce(expected);
    ManifestBuilder builder;
    if (recipe_.git) fetch_source_tree(builder);
    FetchedFragments fragments = fetch_fragments(context_, recipe_, expected, request_, builder);
    record_.resolved = std::move(fragments.resolved);
    if (record_.trusted_by.empty() || !fragments.trusted_by.empty()) {
      const bool proved = expected != nullptr || fragments.trusted_by.empty();  // by a root that was believed before
      record_.trusted_by = is_pinned(recipe_, request_) ? "pinned" : proved ? record_.trusted_by : fragments.trusted_by;
    }
    if (!fragments.failures.empty()) {
      record_.failures = std::move(fragments.failures);
      record_.files = fragments.files_done;
      if (selection_.empty() && !pin_) name_what_is_here(context_.store, recipe_, record_.failures.front().failure);
      return std::nullopt;
    }
    const Sha256 root = context_.store.put_manifest(builder);
    if (pin_ && expected == nullptr && root != pin_->digest) {
      throw Error(FailureKind::content,
                  fmt::format("the sources of {} give the root {}, and the recipe pins {}", recipe_.name, root.hex(),
                              pin_->digest.hex()),
                  "the sources hold another version: ask the recipe's author, or pin the one you want");
    }
    return kept_manifest(root);
  }

  void announce(const Manifest* expected) {
    std::uint64_t known = 0, unknown = 0, files = recipe_.fragments.size();
    if (!selection_.empty()) {
      meter_.expect(0, 0, files, false);
      context_.events.on(event::AssetStarted{recipe_.name, std::nullopt, selection_.sample.value_or(0)});
      return;
    }
    if (expected != nullptr) {
      known = expected->totals().bytes;
      files = expected->totals().files;
    } else {
      for (const auto& fragment : recipe_.fragments) {
        known += fragment.size_bytes.value_or(0);
        unknown += fragment.size_bytes ? 0 : 1;
      }
    }
    meter_.expect(known, unknown, files, true);
    context_.events.on(event::AssetStarted{recipe_.name, unknown == 0 ? std::optional(known) : std::nullopt, files});
  }

  void fetch_source_tree(ManifestBuilder& builder) {
    GitSource git = *recipe_.git;
    if (!request_.locals.empty()) {
      git.origin = std::filesystem::absolute(request_.locals.front().path).string();
      git.namer.reset();  // the user's own word
      request_.locals.pop_front();
    } else {
      git = rewritten(std::move(git), context_.rewrites);
    }
    context_.events.on(event::PhaseChanged{"clone"});
    const std::string commit = fetch_git(context_, git, resolve_commit(context_, git), builder);
    record_.trusted_by = "git commit " + commit;
    commit_ = commit;
  }

  void learn(const Sha256& root) {
    sabath::learn(context_.store, recipe_,
                  {root, record_.trusted_by, {}, std::time(nullptr), source_of(recipe_), commit_});
    context_.events.on(event::Note{
        fmt::format("{} is {} (trusted by: {}); to pin it, add to the recipe: \"manifest\": {{\"digest\": \"{}\"}}",
                    recipe_.name, root.prefixed(), record_.trusted_by, root.prefixed())});
  }

  // A pinned tree needs no ref to be found, but a collection has to know that it is an asset, and whether it can come
  // again. Where the ref cannot be written, nothing can be collected.
  void keep(const Sha256& root) {
    const Sha256 key = pinned_key(recipe_, root);
    if (context_.store.ref(key)) return;
    try {
      context_.store.put_ref(key, {root, record_.trusted_by, {}, std::time(nullptr), source_of(recipe_), ""});
    } catch (const Error& error) {
      context_.events.on(event::Note{fmt::format("{} is not noted as an asset: {}", recipe_.name, error.what())});
    }
  }

  // Another store of the list has the view: nothing is made here.
  std::nullopt_t finish_at(const Manifest& manifest, const std::filesystem::path& view) {
    context_.events.on(event::BytesReused{manifest.totals().bytes, Reuse::content});
    record_.manifest = manifest.root().prefixed();
    record_.files = manifest.totals().files;
    record_.bytes = manifest.totals().bytes;
    record_.path = view.string();
    return std::nullopt;
  }

  void finish(const Manifest& manifest) {
    context_.events.on(event::PhaseChanged{"view"});
    record_.manifest = manifest.root().prefixed();
    record_.files = manifest.totals().files;
    record_.bytes = manifest.totals().bytes;
    if (is_pinned(recipe_, request_) && selection_.empty()) keep(manifest.root());
    const bool there = context_.store.view_present(manifest);
    record_.packed = !there && !request_.view && context_.store.packed(manifest);
    if (record_.packed) {
      record_.view_inodes = view_inodes(manifest);
      return;
    }
    record_.path = show_view(context_.store, context_.space, manifest, recipe_.name).string();
  }

  [[noreturn]] void refuse_offline(const Manifest* manifest) {
    std::string missing;
    std::size_t count = 0;
    if (manifest != nullptr) {
      manifest->for_each([&](const Entry& entry) {
        if (!entry.is_file() || context_.store.present(entry.digest)) return;
        if (count++ < 10) missing += (missing.empty() ? "" : ", ") + entry.path.text();
      });
    }
    throw Error(
        FailureKind::offline,
        manifest != nullptr ? fmt::format("{} is not wholly present: {} missing ({}{})", recipe_.name,
                                          counted(count, "file is", "files are"), missing, count > 10 ? ", ..." : "")
                            : fmt::format("{} is not present, and the network may not be used", recipe_.name),
        fmt::format("fetch it where there is a network, without {} and SABATH_OFFLINE", option_text("offline")) +
            others_hint(context_.store, source_key(recipe_, context_.store.source_names(), selection_)));
  }

  [[noreturn]] void refuse_nothing() const {
    throw Error(FailureKind::not_found,
                fmt::format("{} has nothing that was asked for: {}", recipe_.name, to_text(selection_)),
                option_text("select") + " matches whole paths of the asset; `**` means any directories: '**/*.h5'");
  }

  FetchContext& context_;
  AssetMeter& meter_;
  const Recipe& recipe_;
  AssetRequest& request_;
  AssetRecord& record_;
  std::optional<ManifestPin> pin_;
  const Selection selection_;
  std::string commit_;
  std::optional<WarmUp> warm_up_;
};

// A user who is refused is told, once, the steps that the recipe asks of a person, and the licence.
void add_steps(const Recipe& recipe, std::vector<FileFailure>& failures) {
  const auto refused =
      std::ranges::find(failures, FailureKind::access, [](const auto& one) { return one.failure.kind; });
  if (refused == failures.end() || recipe.access.steps.empty()) return;
  std::string& hint = refused->failure.hint;
  hint += hint.empty() ? "do this first:" : "; do this first:";
  for (const auto& step : recipe.access.steps) hint += "\n" + step;
  if (!recipe.licence.empty()) hint += "\nits licence: " + recipe.licence;
}

}  // namespace

AssetRecord fetch_asset(FetchContext& context, const Recipe& recipe, AssetRequest& request) {
  AssetRecord record;
  record.name = recipe.name;
  record.kind = recipe.kind;
  const auto begin = std::chrono::steady_clock::now();
  AssetMeter events(context.events);
  Ledger ledger(events);
  FetchContext own = context.with(events, ledger);
  try {
    AssetFetch(own, events, recipe, request, record).run();
  } catch (const Error& error) {
    record.failures.push_back({recipe.name, error.failure()});
  }
  add_steps(recipe, record.failures);
  record.sources = ledger.records();
  record.fetched_bytes = ledger.bytes();
  record.reused = events.reused.bytes();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  context.events.on(event::AssetFinished{recipe.name});
  return record;
}

}  // namespace sabath
