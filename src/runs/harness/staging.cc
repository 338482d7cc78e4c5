#include "harness/staging.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/wording.h"
#include "sabath/error.h"
#include "sabath/path.h"

namespace sabath {
namespace {

constexpr std::uint64_t record_size_max = 16 << 20;

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
  throw Error(
      FailureKind::invalid, fmt::format("{}: {}", printable(file.string(), 4096), what),
      fmt::format("{} takes {} when it staged this dataset", option_text("stage_record"), record_text("stage")));
}

bool is(const nlohmann::json& object, const char* key, const std::string& wanted) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() && found->get<std::string>() == wanted;
}

}  // namespace

double staging_seconds(const std::filesystem::path& file, const RunAsset& dataset) {
  const auto text = try_read_text(file, record_size_max);
  if (!text) throw Error(FailureKind::usage, fmt::format("there is no file {}", printable(file.string(), 4096)));
  const nlohmann::json record = nlohmann::json::parse(*text, nullptr, false);
  const auto assets = record.is_object() ? record.find("assets") : record.end();
  if (!record.is_object() || assets == record.end() || !assets->is_array()) refuse(file, "no record of stage");
  for (const nlohmann::json& asset : *assets) {
    if (!asset.is_object() || !is(asset, "name", dataset.name)) continue;
    if (!dataset.manifest.empty() && !is(asset, "manifest", dataset.manifest)) {
      refuse(file, fmt::format("other bytes of {} were staged than are read now", dataset.name));
    }
    const auto seconds = asset.find("seconds");
    if (seconds == asset.end() || !seconds->is_number() || !(seconds->get<double>() >= 0)) break;
    return seconds->get<double>();
  }
  refuse(file, fmt::format("does not say what the staging of {} took", dataset.name));
}

}  // namespace sabath
