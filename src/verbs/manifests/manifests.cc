#include "sabath/manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/metalink.h"
#include "base/wording.h"
#include "recipe/supporting.h"
#include "sabath/error.h"
#include "session/publish_as.h"
#include "verbs/assets/assets.h"
#include "verbs/care/kept_root.h"
#include "verbs/manifests/manifest_entries.h"
#include "verbs/manifests/tree_manifest.h"
#include "verbs/records.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

void check_prefix(const std::string& text, std::vector<Url>& urls) {
  auto url = Url::try_parse(text);
  if (!url || !text.ends_with('/')) {
    throw Error(
        FailureKind::usage, fmt::format("{} {} is no URL that ends in '/'", option_text("url"), printable(text)),
        fmt::format("the files stand at URL + path, e.g. {} https://data.example.org/set/", option_text("url")));
  }
  urls.push_back(std::move(*url));
}

Publication publication_of(const ManifestExportRequest& request, std::stop_token stop) {
  const bool bag = request.form == ManifestExportRequest::Form::bag;
  Publication publication{.below = {}, .agent = "sabath/" SABATH_VERSION, .stop = std::move(stop)};
  for (const std::string& text : request.urls) check_prefix(text, publication.below);
  if (!bag && publication.below.empty())
    throw Error(FailureKind::usage, "a metalink says where files are: name it with " + option_text("url"),
                fmt::format("e.g. {} https://data.example.org/set/, again for each mirror", option_text("url")));
  if (bag && publication.below.size() > 1)
    throw Error(FailureKind::usage,
                fmt::format("a bag says one place for each file: give {} once", option_text("url")));
  return publication;
}

void check_threads_of(unsigned threads) {
  if (threads <= hashing_threads_max) return;
  throw Error(FailureKind::usage, fmt::format("{} threads are more than {}", threads, hashing_threads_max));
}

void add_totals(Json& record, const ManifestTotals& totals) {
  record["files"] = totals.files;
  record["directories"] = totals.directories;
  record["symlinks"] = totals.symlinks;
  record["bytes"] = totals.bytes;
}

}  // namespace

ManifestCreateRecord create_manifest(Session&, const ManifestCreateRequest& request, EventSink& events,
                                     std::stop_token stop) {
  const fs::path& output = request.output;
  if (output.empty()) throw Error(FailureKind::usage, "where the manifest is to be written is not said", "name a file");
  check_threads_of(request.threads);
  if (const auto status = try_stat(output); status && !S_ISREG(status->st_mode)) {
    throw Error(FailureKind::usage,
                fmt::format("cannot write a manifest to {}: it is no regular file", output.string()));
  }
  ManifestBuilder builder;
  hash_tree(builder, request.path, request.threads, events, stop);
  const fs::path unfinished = unfinished_name(output, "new");
  ManifestCreateRecord record{.manifest = builder.write(unfinished), .file = output, .totals = {}};
  std::error_code error;
  fs::rename(unfinished, output, error);
  if (error) throw_errno("rename a new manifest to", output, error.value());
  record.totals = totals_of(Manifest::open(output));
  return record;
}

ManifestShowRecord show_manifest(Session& session, const ManifestShowRequest& request, EventSink&,
                                 std::stop_token stop) {
  const Manifest manifest = find_manifest(request.manifest, session.settings());
  manifest.check();  // before the first entry: half a listing of a damaged manifest would be believed
  ManifestShowRecord record;
  record.manifest = manifest.root();
  record.totals = totals_of(manifest);
  record.note = manifest.note();
  record.derived = derivation_in(record.note);
  manifest.for_each([&](const Entry& entry) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "listing a manifest was stopped");
    ManifestEntry told = entry_of(entry);
    if (request.chunks && entry.is_file()) told.chunks = manifest.chunks(entry);
    if (request.on_entry)
      request.on_entry(record, told);
    else
      record.entries.push_back(std::move(told));
  });
  return record;
}

ManifestDiffRecord diff_manifests(Session& session, const ManifestDiffRequest& request, EventSink&,
                                  std::stop_token stop) {
  const Manifest before = find_manifest(request.before, session.settings());
  const Manifest after = find_manifest(request.after, session.settings());
  ManifestDiffRecord record{.before = before.root(), .after = after.root(), .differences = {}};
  bool same = true;
  diff(before, after, [&](const Difference& difference) {
    if (stop.stop_requested()) throw Error(FailureKind::interrupted, "comparing manifests was stopped");
    same = false;
    ManifestDifference told = difference_of(difference);
    if (request.on_difference)
      request.on_difference(record, told);
    else
      record.differences.push_back(std::move(told));
  });
  if (!same && request.exit_code) record.exit = exit_code(FailureKind::content);
  return record;
}

ManifestVerifyRecord verify_manifest(Session& session, const ManifestVerifyRequest& request, EventSink& events,
                                     std::stop_token stop) {
  check_threads_of(request.threads);
  const Manifest expected = find_manifest(request.manifest, session.settings());
  expected.check();
  ManifestBuilder builder;
  hash_tree(builder, request.path, request.threads, events, stop);
  ManifestVerifyRecord record = compare_manifests(expected, Manifest::parse(builder.bytes()));
  record.path = request.path;
  if (!record.bad.empty() || (!request.allow_extra && !record.extra.empty())) {
    record.exit = exit_code(FailureKind::content);
  } else if (!record.missing.empty()) {
    record.exit = exit_code(record.missing.size() >= record.files ? FailureKind::offline : FailureKind::partial);
  }
  return record;
}

ManifestExportRecord export_manifest(Session& session, const ManifestExportRequest& request, EventSink&,
                                     std::stop_token stop) {
  using Form = ManifestExportRequest::Form;
  if (request.output.empty()) throw Error(FailureKind::usage, "where the export is to be written is not said");
  const Publication publication = publication_of(request, std::move(stop));
  const Manifest manifest = find_manifest(request.manifest, session.settings());
  const auto store = open_existing_store(session.settings());
  if (request.form == Form::bag) {
    write_bag(*store, manifest, request.output, publication);
  } else {
    const auto files = described_files(*store, manifest, publication);
    write_text_atomically(
        request.output, request.form == Form::metalink ? write_metalink(files, publication.agent) : write_links(files));
  }
  const Totals totals = manifest.totals();
  return {.manifest = manifest.root(), .written = request.output, .files = totals.files, .bytes = totals.bytes};
}

Json json_of(const ManifestCreateRecord& record) {
  Json json{{"schema", 1}, {"manifest", record.manifest.prefixed()}, {"file", record.file.string()}};
  add_totals(json, record.totals);
  json["exit"] = record.exit;
  return json;
}

Json json_of(const ManifestShowRecord& record) {
  Json json{{"schema", 1}, {"manifest", record.manifest.prefixed()}};
  add_totals(json, record.totals);
  json["note"] = record.note.empty() ? Json() : Json::parse(record.note);
  json["entries"] = Json::array();
  for (const ManifestEntry& entry : record.entries) json["entries"].push_back(json_of(entry));
  json["exit"] = record.exit;
  return json;
}

Json json_of(const ManifestDiffRecord& record) {
  Json json{{"schema", 1}, {"before", record.before.prefixed()}, {"after", record.after.prefixed()}};
  json["differences"] = Json::array();
  for (const ManifestDifference& difference : record.differences) json["differences"].push_back(json_of(difference));
  json["exit"] = record.exit;
  return json;
}

Json json_of(const ManifestVerifyRecord& record) {
  Json json{{"schema", 1},
            {"manifest", record.manifest.prefixed()},
            {"path", record.path.string()},
            {"files", record.files},
            {"bytes", record.bytes}};
  json["bad"] = Json::array();
  for (const auto& bad : record.bad) {
    json["bad"].push_back({{"path", bad.path},
                           {"chunk", value_or_null(bad.chunk)},
                           {"offset", bad.chunk ? Json(*bad.chunk * chunk_size_bytes) : Json(nullptr)},
                           {"what", bad.what}});
  }
  json["missing"] = record.missing;
  json["extra"] = record.extra;
  json["exit"] = record.exit;
  return json;
}

Json json_of(const ManifestExportRecord& record) {
  return {{"schema", 1},
          {"manifest", record.manifest.prefixed()},
          {"written", record.written.string()},
          {"files", record.files},
          {"bytes", record.bytes},
          {"exit", record.exit}};
}

std::string to_json(const ManifestCreateRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ManifestShowRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ManifestDiffRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ManifestVerifyRecord& record) { return text_of(json_of(record)); }
std::string to_json(const ManifestExportRecord& record) { return text_of(json_of(record)); }

Json call_manifest_create(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const ManifestCreateRequest wanted{
      .path = request.text("path"), .output = request.text("output"), .threads = hashing_threads(request)};
  request.finish();
  return json_of(create_manifest(session, wanted, events, std::move(stop)));
}

Json call_manifest_show(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  ManifestShowRequest wanted{.manifest = request.text("manifest"), .chunks = request.flag("chunks"), .on_entry = {}};
  request.finish();
  Json entries = Json::array();
  wanted.on_entry = [&](const ManifestShowRecord& head, const ManifestEntry& entry) {
    if (entries.empty()) check_fits_record(head.totals, wanted.chunks);
    entries.push_back(json_of(entry));
  };
  Json told = json_of(show_manifest(session, wanted, events, std::move(stop)));
  told["entries"] = std::move(entries);
  return told;
}

Json call_manifest_diff(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const ManifestDiffRequest wanted{.before = request.text("before"),
                                   .after = request.text("after"),
                                   .exit_code = request.flag("exit_code"),
                                   .on_difference = {}};
  request.finish();
  return json_of(diff_manifests(session, wanted, events, std::move(stop)));
}

Json call_manifest_verify(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  const ManifestVerifyRequest wanted{.manifest = request.text("manifest"),
                                     .path = request.text("path"),
                                     .allow_extra = request.flag("allow_extra"),
                                     .threads = hashing_threads(request)};
  request.finish();
  return json_of(verify_manifest(session, wanted, events, std::move(stop)));
}

Json call_manifest_export(Session& session, JsonObject& request, EventSink& events, std::stop_token stop) {
  using Form = ManifestExportRequest::Form;
  ManifestExportRequest wanted{.manifest = request.text("manifest"), .output = {}, .urls = request.texts("url")};
  int chosen = 0;
  const std::pair<const char*, Form> forms[] = {
      {"metalink", Form::metalink}, {"links", Form::links}, {"bag", Form::bag}};
  for (const auto& [key, form] : forms) {
    const auto output = request.try_text(key);
    if (!output) continue;
    ++chosen;
    wanted.form = form;
    wanted.output = *output;
  }
  request.finish();
  if (chosen != 1) throw Error(FailureKind::usage, "manifest export needs one of the keys metalink, links and bag");
  return json_of(export_manifest(session, wanted, events, std::move(stop)));
}

}  // namespace sabath
