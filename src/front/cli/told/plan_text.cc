#include "cli/told/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/counted.h"
#include "base/text.h"
#include "cli/show/render.h"
#include "sabath/path.h"

namespace sabath::cli {
namespace {

std::string files_and_bytes(const FilesAndBytes& sum) {
  return fmt::format("{}, {}", counted(sum.files, "file", "files"), format_bytes(sum.bytes));
}

void add_line(std::string& text, std::string_view key, std::string_view value) {
  text += fmt::format("  {:<12}{}\n", key, printable(value, 4096));
}

std::string to_fetch_text(const PlannedAsset& asset) {
  std::string text = asset.to_fetch.files == 0 && asset.files_without_size > 0 ? "" : files_and_bytes(asset.to_fetch);
  const auto more = [&](const std::string& what) { text += (text.empty() ? "" : ", and ") + what; };
  if (asset.files_without_size > 0) more(counted(asset.files_without_size, "file", "files") + " of unknown size");
  if (asset.lists > 0) more("what " + counted(asset.lists, "list names", "lists name"));
  if (asset.archives > 0) more("what is in " + counted(asset.archives, "archive", "archives"));
  return text;
}

// Why the source gave no size, without its URL, which stands before it.
std::string reason_of(const PlannedSource& source) {
  const std::string named = fmt::format("cannot read {}: ", source.url);
  return source.problem.starts_with(named) ? source.problem.substr(named.size()) : source.problem;
}

void add_asset(std::string& text, const PlannedAsset& asset) {
  text +=
      fmt::format("{} ({}){}\n", asset.name, kind_name(asset.kind), asset.manifest.empty() ? "" : " " + asset.manifest);
  if (asset.by_source.files > 0) add_line(text, "here", files_and_bytes(asset.by_source));
  if (asset.by_content.files > 0) {
    add_line(text, "here", files_and_bytes(asset.by_content) + ", from another source");
  }
  const bool nothing = asset.to_fetch.files == 0 && asset.files_without_size == 0;
  add_line(text, "to fetch", nothing && asset.all.files > 0 ? "nothing" : to_fetch_text(asset));
  if (asset.by_chunk_bytes > 0)
    add_line(text, "of it", format_bytes(asset.by_chunk_bytes) + " are chunks that are here");
  if (asset.in_partials_bytes > 0) add_line(text, "of it", format_bytes(asset.in_partials_bytes) + " have arrived");
  if (nothing && asset.all.files > 0) return;
  constexpr std::size_t shown = 5;
  std::set<std::string_view> urls;  // several fragments may come from one
  for (const PlannedSource& source : asset.sources) {
    if (!urls.insert(source.url).second || urls.size() > shown) continue;
    std::string line = source.url;
    if (!source.readable) line += " (no fetcher of this build reads it)";
    if (source.expires_in_s) {
      const double left = static_cast<double>(*source.expires_in_s);
      line += left > 0 ? fmt::format(" ({} ends in {})", source.expires_by, format_duration(left))
                       : fmt::format(" ({} has ended)", source.expires_by);
    }
    if (!source.problem.empty()) line += " (" + reason_of(source) + ")";
    add_line(text, urls.size() == 1 ? "from" : "", line);
  }
  if (urls.size() > shown) add_line(text, "", fmt::format("and {} more", urls.size() - shown));
  for (const auto& step : asset.steps) add_line(text, "first", step);
}

std::string amount(const PlannedLimit& limit, std::uint64_t value) {
  if (limit.what == "walltime") return format_duration(static_cast<double>(value));
  return limit.what.ends_with("inodes") ? fmt::format("{}", value) : format_bytes(value);
}

std::string limits_text(const PlanRecord& record) {
  Table table({"BOUND", "NEEDED", "LEFT", "", "OF"});
  for (const auto& limit : record.limits) {
    if (limit.needed == 0 && limit.what != "walltime") continue;
    const bool unknown = limit.what == "walltime" && !record.seconds;
    std::string by = printable(limit.by, 4096);
    if (limit.reserved > 0) by += fmt::format(" (others have reserved {})", amount(limit, limit.reserved));
    table.add({limit.what, unknown ? "unknown" : amount(limit, limit.needed), amount(limit, limit.available),
               !limit.fits   ? "unknown"
               : *limit.fits ? ""
                             : "TOO LITTLE",
               by});
  }
  return table.empty() ? "" : table.text({1, 2}, 0);
}

std::string time_text(const PlanRecord& record) {
  if (record.bytes_to_fetch == 0) return "";
  if (!record.seconds) return "time: unknown, as no earlier fetch from there is on record\n";
  return fmt::format("time: about {} at {}/s ({})\n", format_duration(*record.seconds),
                     format_bytes(static_cast<std::uint64_t>(*record.bytes_per_second)), record.rate_by);
}

}  // namespace

std::string to_text(const PlanRecord& record, bool verbose) {
  std::string text;
  for (const auto& asset : record.assets) add_asset(text, asset);
  text += fmt::format("would move {}{} and write {} in {} to {}\n", record.sizes_known ? "" : "at least ",
                      format_bytes(record.bytes_to_fetch), format_bytes(record.store_bytes),
                      counted(record.store_inodes, "inode", "inodes"), printable(record.store, 4096));
  text += limits_text(record) + time_text(record);
  for (const auto& warning : record.warnings) text += "warning: " + printable(warning, 4096) + "\n";
  if (verbose) {
    for (const auto& what : record.unknown) text += "not known: " + printable(what, 4096) + "\n";
  }
  if (record.requests > 0) text += fmt::format("asked {}\n", counted(record.requests, "time", "times"));
  const bool fits = record.fits.value_or(false);
  const bool lacks =
      std::ranges::any_of(record.refusals, [](const Failure& f) { return f.kind == FailureKind::space; });
  text += fits                      ? "fits\n"
          : lacks                   ? "does not fit\n"
          : record.refusals.empty() ? "unknown whether it fits: not all sizes are known\n"
                                    : "unknown whether it fits: not every source can be read now\n";
  return text;
}

}  // namespace sabath::cli
