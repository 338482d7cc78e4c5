#include "sabath/verbs/import.h"
#include "base/asked_file.h"
#include "base/text.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "fetch/hosts/source_key.h"
#include "holdings/registration.h"
#include "recipe/parse.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/kept_root.h"
#include "verbs/care/bundle_files.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// A user who names an asset trusts the bundle for it. Nothing else that a bundle says about sources is believed.
void trust_for(const std::string& name, const SessionSettings& settings, Store& store, const Imported& imported) {
  const Recipe recipe = make_catalogue(settings).find(name, std::nullopt);
  const auto found = std::ranges::find(imported.assets, recipe.name, [](const auto& a) { return a.asset.name; });
  if (found == imported.assets.end()) {
    throw Error(FailureKind::not_found, fmt::format("the bundle has no {}", printable(name)),
                fmt::format("`{} FILE` alone says what it has", verb_text("import")));
  }
  const Sha256& root = found->asset.root;
  if (recipe.manifest && recipe.manifest->digest != root) {
    throw Error(FailureKind::content,
                fmt::format("the bundle has {} as {}, and its recipe pins {}", printable(name), root.prefixed(),
                            recipe.manifest->digest.prefixed()),
                "it is another version");
  }
  if (recipe.manifest || found->missing_files > 0) return;
  learn(store, recipe, {root, "bundle", {}, std::time(nullptr), source_of(recipe), ""});
}

// Imported assets need no name to be kept: a ref saves them from collection, for no source of them is known.
void keep_imported(Store& store, const Imported& imported) {
  for (const auto& asset : imported.assets) {
    if (asset.missing_files > 0) continue;
    store.put_ref(bundle_key(asset.asset.root), {asset.asset.root, "bundle", {}, std::time(nullptr), "", ""});
  }
}

// A workflow's steps stand in its recipe, which a bundle does not bring.
AssetKind kind_of(const BundledAsset& asset) {
  return try_parse_kind(asset.kind) == AssetKind::model ? AssetKind::model : AssetKind::dataset;
}

// Its recipe pins nothing, and the user may have said that he trusts the bundle.
bool leads_to(const SessionSettings& settings, Store& store, const std::string& name, const Sha256& root) {
  return holding_of(make_catalogue(settings).find(name, std::nullopt), &store).root == root;
}

// All of it is here: its name leads to it, if no recipe of a directory has the name for something else.
void make_known(const SessionSettings& settings, Store& store, const std::string& file, const Imported& imported,
                ImportRecord& record, const std::stop_token& stop) {
  const std::string steps = fmt::format("import the bundle {} again", file.empty() ? "that had it" : file);
  std::optional<Error> refused;
  for (std::size_t i = 0; i < record.assets.size(); ++i) {
    TakenAsset& asset = record.assets[i];
    if (asset.missing_files > 0 || !is_name(asset.name)) continue;
    const Sha256 root = Sha256::parse(asset.manifest);
    try {
      const AssetKind kind = kind_of(imported.assets[i].asset);
      asset.known = register_name(settings, store, asset.name, root, steps, kind).leads_here ||
                    leads_to(settings, store, asset.name, root);
      if (asset.known) asset.path = show_asset(settings, store, asset.name, root, stop);
    } catch (const Error& error) {  // the names of the others are known all the same
      if (!refused) refused = error;
    }
  }
  if (refused) throw Error(*refused);
}

ImportRecord record_of(const Imported& imported) {
  ImportRecord record;
  for (const auto& one : imported.assets) {
    record.assets.push_back(
        {one.asset.name, one.asset.root.prefixed(), one.files, one.bytes, one.missing_files, one.missing, false, {}});
    if (one.missing_files > 0) record.exit = exit_code(FailureKind::partial);
  }
  record.bundle_bytes = imported.bundle_bytes;
  record.copied_bytes = imported.copied_bytes;
  record.present_bytes = imported.present_bytes;
  return record;
}

}  // namespace

ImportRecord import_bundle(Session& session, const ImportRequest& request, EventSink& events, std::stop_token stop) {
  const bool by_name = request.descriptor < 0;
  if (by_name && request.file.empty()) throw Error(FailureKind::usage, "what to import is not said", "name a bundle");
  if (by_name && !try_stat(request.file)) {
    throw Error(FailureKind::not_found, fmt::format("there is no file {}", printable(request.file, 4096)),
                fmt::format("name a bundle: `{}` makes them", verb_text("export")));
  }
  const auto store = open_stores(session.settings());
  if (by_name) refuse_directory(request.file);
  const Fd file = by_name ? open_file(request.file, O_RDONLY) : Fd();
  if (file) store->admit(request.file, printable(request.file));
  events.on(event::AssetStarted{"import", std::nullopt, 0});
  const Imported imported = read_bundle(
      *store, by_name ? file.get() : request.descriptor,
      [&](std::uint64_t bytes) {
        events.on(event::BytesReceived{0, bytes});
      },
      stop);
  keep_imported(*store, imported);
  for (const auto& name : request.names) trust_for(name, session.settings(), *store, imported);
  events.on(event::AssetFinished{"import"});
  ImportRecord record = record_of(imported);
  make_known(session.settings(), *store, by_name ? std::filesystem::absolute(request.file).native() : "", imported,
             record, stop);
  return record;
}

template <>
struct Described<ImportRequest> {
  using Of = ImportRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "a bundle, - for standard input", .required = true, .argument = "FILE"),
      SABATH_FIELD(names, .help = "assets of the bundle that it is trusted for: what NAME means from now on",
                   .argument = "NAME"),
  };
};

template <>
struct Described<TakenAsset> {
  using Of = TakenAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(files, .help = "as its manifest says", .unit = "files"),
      SABATH_FIELD(bytes, .help = "as its manifest says", .unit = "bytes"),
      SABATH_FIELD(missing_files, .help = "neither in the bundle nor in the store", .unit = "files"),
      SABATH_FIELD(missing, .help = "the first of them"),
      SABATH_FIELD(known, .help = "all of it is here, and its name leads to it"),
      SABATH_FIELD(path, .help = "its view; null: it is not known, or its files are in packs", .null_if_empty = true),
  };
};

template <>
struct Described<ImportRecord> {
  using Of = ImportRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(assets, .help = "what the bundle has"),
      SABATH_FIELD(bundle_bytes, .help = "content that was taken from the bundle", .unit = "bytes"),
      SABATH_FIELD(copied_bytes, .help = "content that other files of the store had", .unit = "bytes"),
      SABATH_FIELD(present_bytes, .help = "content of the bundle that was in the store already", .unit = "bytes"),
      SABATH_FIELD(exit, .help = "the exit code; 8: something is missing"),
  };
};

std::string to_json(const ImportRecord& record) { return record_text(record); }

extern constexpr LibraryVerb import_call = described<import_bundle>("import");

}  // namespace sabath
