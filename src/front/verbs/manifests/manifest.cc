#include "sabath/verbs/manifest.h"

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
#include "verbs/assets/kept_root.h"
#include "verbs/manifests/manifest_entries.h"
#include "verbs/manifests/manifest_fields.h"
#include "verbs/manifests/tree_manifest.h"
#include "verbs/verb.h"

namespace sabath {
namespace {

namespace fs = std::filesystem;

void check_prefix(const std::string& text, std::vector<Url>& urls) {
  auto url = Url::try_parse(text);
  if (!url || !text.ends_with('/')) {
    throw Error(FailureKind::usage,
                fmt::format("{} {} is no URL that ends in '/'", option_text("url"), printable(text)),
                fmt::format("the files are at URL + path, e.g. {} https://data.example.org/set/", option_text("url")));
  }
  urls.push_back(std::move(*url));
}

Publication publication_of(const ManifestExportRequest& request, std::stop_token stop) {
  const bool bag = !request.bag.empty();
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

const fs::path& the_one_of(std::initializer_list<const fs::path*> outputs) {
  const auto given = [](const fs::path* output) { return !output->empty(); };
  if (std::ranges::count_if(outputs, given) != 1) {
    throw Error(FailureKind::usage, "manifest export needs one of a metalink, links and a bag",
                "name one of these, and where it is to be written");
  }
  return **std::ranges::find_if(outputs, given);
}

void check_threads_of(unsigned threads) {
  if (threads <= hashing_threads_max) return;
  throw Error(FailureKind::usage, fmt::format("{} threads are more than {}", threads, hashing_threads_max));
}

}  // namespace

ManifestCreateRecord manifest_create(Session&, const ManifestCreateRequest& request, EventSink& events,
                                     std::stop_token stop) {
  const fs::path& output = request.output;
  if (output.empty()) {
    throw Error(FailureKind::usage, fmt::format("manifest create needs {} FILE", option_text("output")));
  }
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

ManifestShowRecord manifest_show(Session& session, const ManifestShowRequest& request, EventSink&,
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
    if (request.on_entry) {
      request.on_entry(record, told);
    } else {
      if (record.entries.empty()) check_fits_record(record.totals, request.chunks);
      record.entries.push_back(std::move(told));
    }
  });
  return record;
}

ManifestDiffRecord manifest_diff(Session& session, const ManifestDiffRequest& request, EventSink&,
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

ManifestVerifyRecord manifest_verify(Session& session, const ManifestVerifyRequest& request, EventSink& events,
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

ManifestExportRecord manifest_export(Session& session, const ManifestExportRequest& request, EventSink&,
                                     std::stop_token stop) {
  const fs::path& output = the_one_of({&request.metalink, &request.links, &request.bag});
  const Publication publication = publication_of(request, std::move(stop));
  const Manifest manifest = find_manifest(request.manifest, session.settings());
  const auto store = open_existing_store(session.settings());
  if (!request.bag.empty()) {
    write_bag(*store, manifest, output, publication);
  } else {
    const auto files = described_files(*store, manifest, publication);
    write_text_atomically(output,
                          request.links.empty() ? write_metalink(files, publication.agent) : write_links(files));
  }
  const Totals totals = manifest.totals();
  return {.manifest = manifest.root(), .written = output, .files = totals.files, .bytes = totals.bytes};
}

Json note_json(const ManifestShowRecord& record) { return record.note.empty() ? Json() : Json::parse(record.note); }

template <>
struct Described<ManifestCreateRequest> {
  using Of = ManifestCreateRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "a directory, or one file", .required = true, .argument = "PATH"),
      SABATH_FIELD(output, .help = "the manifest file to write", .required = true, .letter = 'o', .value = "FILE"),
      SABATH_FIELD(threads, .help = "threads that read and hash (default: one a core)", .maximum = hashing_threads_max,
                   .letter = 'j', .value = "N"),
  };
};

template <>
struct Described<ManifestCreateRecord> {
  using Of = ManifestCreateRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(file, .help = "the manifest file"),
      SABATH_FIELD_AS("files", totals.files, .help = "files that it names", .unit = "files"),
      SABATH_FIELD_AS("directories", totals.directories, .help = "directories that it names"),
      SABATH_FIELD_AS("symlinks", totals.symlinks, .help = "symlinks that it names"),
      SABATH_FIELD_AS("bytes", totals.bytes, .help = "of all files", .unit = "bytes"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<ManifestShowRequest> {
  using Of = ManifestShowRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "a manifest file, an asset in the store, or sha256:HEX of the store",
                   .required = true, .argument = "MANIFEST"),
      SABATH_FIELD(chunks, .help = "also the byte offset and hash of each chunk"),
  };
};

template <>
struct Described<ManifestDiffRequest> {
  using Of = ManifestDiffRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(before, .help = "a manifest file, an asset in the store, or sha256:HEX", .required = true,
                   .argument = "BEFORE"),
      SABATH_FIELD(after, .help = "the other one", .required = true, .argument = "AFTER"),
      SABATH_FIELD(exit_code, .help = "end with 7 when they differ"),
  };
};

template <>
struct Described<ManifestVerifyRequest> {
  using Of = ManifestVerifyRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "a manifest file, an asset in the store, or sha256:HEX", .required = true,
                   .argument = "MANIFEST"),
      SABATH_FIELD(path, .help = "the directory, or the one file, that it should name", .required = true,
                   .argument = "PATH"),
      SABATH_FIELD(allow_extra, .help = "files that the manifest does not name are no failure"),
      SABATH_FIELD(threads, .help = "threads that read and hash (default: one a core)", .maximum = hashing_threads_max,
                   .letter = 'j', .value = "N"),
  };
};

template <>
struct Described<ManifestVerifyRecord::Bad> {
  using Of = ManifestVerifyRecord::Bad;
  static constexpr Field table[] = {
      SABATH_FIELD(path, .help = "relative to the root"),
      SABATH_FIELD(chunk, .help = "the number of the bad chunk; null: the file as a whole is bad"),
      SABATH_VALUE(
          "offset",
          [](const Of& bad) { return bad.chunk ? std::optional(*bad.chunk * chunk_size_bytes) : std::nullopt; },
          .help = "where the chunk begins", .unit = "bytes"),
      SABATH_FIELD(what, .help = "what is wrong"),
  };
};

template <>
struct Described<ManifestVerifyRecord> {
  using Of = ManifestVerifyRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(path, .help = "the directory, or the one file, that was compared"),
      SABATH_FIELD(files, .help = "that the manifest names", .unit = "files"),
      SABATH_FIELD(bytes, .help = "that the manifest names", .unit = "bytes"),
      SABATH_FIELD(bad, .help = "files and chunks that differ"),
      SABATH_FIELD(missing, .help = "paths that the manifest names and that are not there"),
      SABATH_FIELD(extra, .help = "paths that the manifest does not name"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

template <>
struct Described<ManifestExportRequest> {
  using Of = ManifestExportRequest;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "an asset in the store, sha256:HEX of the store, or a manifest file",
                   .required = true, .argument = "MANIFEST"),
      SABATH_FIELD(metalink, .help = "write a metalink (RFC 5854)", .value = "FILE"),
      SABATH_FIELD(links, .help = "write the headers Link and Digest of each file (RFC 6249)", .value = "FILE"),
      SABATH_FIELD(bag, .help = "write a BagIt bag (RFC 8493)", .value = "DIR"),
      SABATH_FIELD_AS("url", urls, .help = "the files are at URL + path; again for more mirrors", .value = "URL"),
  };
};

template <>
struct Described<ManifestExportRecord> {
  using Of = ManifestExportRecord;
  static constexpr Field table[] = {
      SABATH_FIELD(manifest, .help = "its root"),
      SABATH_FIELD(written, .help = "the file or directory that was written"),
      SABATH_FIELD(files, .help = "that the manifest names", .unit = "files"),
      SABATH_FIELD(bytes, .help = "that the manifest names", .unit = "bytes"),
      SABATH_FIELD(exit, .help = "the exit code"),
  };
};

std::string to_json(const ManifestCreateRecord& record) { return record_text(record); }
std::string to_json(const ManifestShowRecord& record) { return record_text(record); }
std::string to_json(const ManifestDiffRecord& record) { return record_text(record); }
std::string to_json(const ManifestVerifyRecord& record) { return record_text(record); }
std::string to_json(const ManifestExportRecord& record) { return record_text(record); }

extern constexpr LibraryVerb manifest_create_call = described<manifest_create>("manifest create");
extern constexpr LibraryVerb manifest_diff_call = described<manifest_diff>("manifest diff");
extern constexpr LibraryVerb manifest_export_call = described<manifest_export>("manifest export");
extern constexpr LibraryVerb manifest_show_call = described<manifest_show>("manifest show");
extern constexpr LibraryVerb manifest_verify_call = described<manifest_verify>("manifest verify");

}  // namespace sabath
