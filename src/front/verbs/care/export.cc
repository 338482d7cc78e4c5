#include "sabath/verbs/export.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"
#include "verbs/assets/assets.h"
#include "verbs/assets/kept_root.h"
#include "verbs/care/bundle_files.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

// The list of what is there, or of what is wanted; nullopt: the request names neither.
std::optional<WantList> list_of(const ExportRequest& request) {
  const auto& file = request.want ? request.want : request.have;
  if (!file) return std::nullopt;
  WantList list = read_want_list(*file);
  if (request.have && list.kind != WantList::Kind::have) {
    throw Error(FailureKind::usage, fmt::format("{} names what is missing, not what is there", printable(*file)),
                option_text("want") + " takes it");
  }
  return list;
}

// The assets to export: a wanted root if the store has it, else the store's own tree of the wanted name.
std::vector<BundledAsset> chosen(const ExportRequest& request, const WantList* list, const SessionSettings& settings,
                                 Store& store) {
  std::vector<BundledAsset> assets;
  for (const auto& name : request.names) assets.push_back(bundled_asset(name, settings, store));
  if (assets.empty() && list != nullptr && request.want) {
    const Catalogue catalogue = make_catalogue(settings);
    for (const auto& wanted : list->assets) {
      const bool by_root = wanted.root != Sha256{} && store.manifest(wanted.root);
      if (!by_root) {
        assets.push_back(bundled_asset(wanted.name, settings, store));
        continue;
      }
      assets.push_back({wanted.name, "", "", wanted.root, bundled_kind(wanted.name, catalogue)});
    }
  }
  if (assets.empty() || assets.size() > bundle_assets_max) {
    throw Error(
        FailureKind::usage, "what to export is not said",
        fmt::format("{} NAME {} FILE, or {} LIST", verb_text("export"), option_text("output"), option_text("want")));
  }
  for (const auto& asset : assets) {
    if (asset.root == Sha256{} || !store.manifest(asset.root)) {
      throw Error(FailureKind::offline, fmt::format("the store does not hold {}", printable(asset.name)),
                  fmt::format("{} {}", verb_text("fetch"), shell_word(asset.name)));
    }
  }
  return assets;
}

void check_export(const ExportRequest& request) {
  if (request.descriptor < 0 && (request.output.empty() || request.output == "-")) {
    throw Error(FailureKind::usage, "where the bundle goes is not said", option_text("output") + " FILE");
  }
  if (request.want && request.have) {
    throw Error(FailureKind::usage,
                fmt::format("{} and {} say the same in two ways", option_text("want"), option_text("have")),
                "give one of them");
  }
}

}  // namespace

ExportRecord export_bundle(Session& session, const ExportRequest& request, EventSink& events, std::stop_token stop) {
  check_export(request);
  const SessionSettings& settings = session.settings();
  const auto store = open_existing_store(settings);
  const auto list = list_of(request);
  const WantList* const filter = list ? &*list : nullptr;
  const auto assets = chosen(request, filter, settings, *store);
  std::vector<Sha256> roots;
  for (const auto& asset : assets) roots.push_back(asset.root);
  const Lease lease = store->lease(roots, "export");
  std::optional<OutputFile> file;
  if (request.descriptor < 0) file.emplace(request.output);
  events.on(event::AssetStarted{"export", std::nullopt, 0});
  const BundleHead head = write_bundle(
      *store, assets, filter, file ? file->fd() : request.descriptor,
      [&](std::uint64_t bytes) {
        events.on(event::BytesReceived{0, bytes});
      },
      stop);
  if (file) file->finish();
  events.on(event::AssetFinished{"export"});
  ExportRecord record{file ? request.output : "", {}, head.runs, head.bytes};
  for (const auto& asset : assets) record.assets.push_back({asset.name, asset.root.prefixed()});
  return record;
}

template <>
struct Described<ExportRequest> {
  using Of = ExportRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset of the store, or its root as sha256:<hex>; none: as --want says",
                   .argument = "NAME"),
      SABATH_FIELD(output, .help = "the bundle to write, - for standard output", .required = true, .letter = 'o',
                   .value = "FILE"),
      SABATH_FIELD(want, .help = "only what this want-list asks for", .value = "LIST"),
      SABATH_FIELD(have, .help = "not what this list says is there", .value = "LIST"),
  };
};

template <>
struct Described<ExportedAsset> {
  using Of = ExportedAsset;
  static constexpr Field table[] = {
      SABATH_FIELD(name, .help = "the asset"),
      SABATH_FIELD(manifest, .help = "its root"),
  };
};

template <>
struct Described<ExportRecord> {
  using Of = ExportRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the bundle"),
      SABATH_FIELD(assets, .help = "what it has"),
      SABATH_FIELD(members, .help = "members with content"),
      SABATH_FIELD(bytes, .help = "what these hold", .unit = "bytes"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const ExportRecord& record) { return record_text(record); }

extern constexpr LibraryVerb export_call = described<export_bundle>("export");

}  // namespace sabath
