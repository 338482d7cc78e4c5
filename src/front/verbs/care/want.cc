#include "sabath/verbs/want.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "verbs/assets/assets.h"
#include "verbs/care/bundle_files.h"
#include "verbs/verb.h"

namespace sabath {

WantRecord want(Session& session, const WantRequest& request, EventSink&, std::stop_token) {
  if (request.file == "-") {
    throw Error(FailureKind::usage, fmt::format("{} is no file", option_text("output")), "name a file");
  }
  const SessionSettings& settings = session.settings();
  const auto store = open_stores(settings);
  std::vector<WantedAsset> assets;
  for (const auto& name : request.names) {
    const BundledAsset asset = bundled_asset(name, settings, *store);
    assets.push_back({asset.name, asset.root});
  }
  const WantList list = make_want_list(*store, std::move(assets));
  WantRecord record;
  record.file = request.file;
  record.assets = list.assets.size();
  record.pieces = list.pieces.size();
  record.missing = list.kind == WantList::Kind::missing;
  record.list = encode_want_list(list);
  if (request.file.empty()) return record;
  OutputFile output(request.file.string());
  write_all(output.fd(), std::as_bytes(std::span(record.list)), request.file);
  output.finish();
  record.list.clear();
  return record;
}

template <>
struct Described<WantRequest> {
  using Of = WantRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(names, .help = "an asset, or its root as sha256:<hex>", .required = true, .argument = "NAME"),
      SABATH_FIELD_AS("output", file, .help = "the want-list to write, - for standard output", .required = true,
                      .letter = 'o', .value = "FILE"),
  };
};

template <>
struct Described<WantRecord> {
  using Of = WantRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(file, .help = "the want-list"),
      SABATH_FIELD(assets, .help = "how many it names"),
      SABATH_VALUE(
          "kind", [](const Of& of) { return std::string_view(of.missing ? "missing" : "have"); },
          .help = "what its pieces are: those that are missing; where no manifest is here, those that the store has",
          .words = "missing|have"),
      SABATH_FIELD(pieces, .help = "how many it names"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const WantRecord& record) { return record_text(record); }

extern constexpr LibraryVerb want_call = described<want>("want");

}  // namespace sabath
