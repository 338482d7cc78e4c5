#include "verbs/manifests/manifest_entries.h"

#include <fmt/format.h>

#include "sabath/error.h"

namespace sabath {
namespace {

const char* entry_type_word(EntryType type) {
  switch (type) {
    case EntryType::file:
      return "file";
    case EntryType::executable:
      return "executable";
    case EntryType::directory:
      return "directory";
    case EntryType::symlink:
      break;
  }
  return "symlink";
}

const char* difference_word(const Difference& difference) {
  switch (difference.kind) {
    case Difference::Kind::added:
      return "added";
    case Difference::Kind::removed:
      return "removed";
    case Difference::Kind::changed:
      break;
  }
  return "changed";
}

// The chunks of a changed file that differ; a file of another length or kind is wrong as a whole.
void compare_entries(const Manifest& expected, const Manifest& found, const Difference& difference,
                     ManifestVerifyRecord& record) {
  const Entry& before = *difference.before;
  const Entry& after = *difference.after;
  const std::string& path = before.path.text();
  if (!before.is_file() || !after.is_file()) {
    record.bad.push_back({path, "is of another kind, or leads elsewhere", std::nullopt});
    return;
  }
  if (before.type != after.type) record.bad.push_back({path, "has another executable bit", std::nullopt});
  if (before.digest.size_bytes != after.digest.size_bytes) {
    record.bad.push_back(
        {path, fmt::format("has {} bytes, not {}", after.digest.size_bytes, before.digest.size_bytes), std::nullopt});
    return;
  }
  const auto want = expected.chunks(before), have = found.chunks(after);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] != have[i]) record.bad.push_back({path, "does not match its hash", i});
  }
}

}  // namespace

void check_fits_record(const ManifestTotals& totals, bool chunks) {
  const std::uint64_t entries = totals.files + totals.directories + totals.symlinks;
  const std::uint64_t all = entries + (chunks ? totals.files + totals.bytes / chunk_size_bytes : 0);
  if (all <= entries_in_record_max) return;
  throw Error(FailureKind::invalid,
              fmt::format("the manifest names {} entries{}: one record has at most {}", entries,
                          chunks ? " and their chunks" : "", entries_in_record_max),
              fmt::format("{}`sabath`, the program, prints them one by one", chunks ? "ask without chunks; " : ""));
}

ManifestTotals totals_of(const Manifest& manifest) {
  const Totals totals = manifest.totals();
  return {totals.files, totals.directories, totals.symlinks, totals.bytes};
}

ManifestEntry entry_of(const Entry& entry) {
  ManifestEntry told{
      .path = entry.path.text(), .type = entry_type_word(entry.type), .digest = {}, .target = {}, .chunks = {}};
  if (entry.type == EntryType::symlink) {
    told.target = entry.target;
  } else {
    told.size = entry.digest.size_bytes;
    told.digest = entry.digest.hash;
  }
  return told;
}

ManifestDifference difference_of(const Difference& difference) {
  ManifestDifference told{.kind = difference_word(difference), .before = {}, .after = {}};
  if (difference.before) told.before = entry_of(*difference.before);
  if (difference.after) told.after = entry_of(*difference.after);
  return told;
}

ManifestVerifyRecord compare_manifests(const Manifest& expected, const Manifest& found) {
  const Totals totals = expected.totals();
  ManifestVerifyRecord record;
  record.manifest = expected.root();
  record.files = totals.files;
  record.bytes = totals.bytes;
  diff(expected, found, [&](const Difference& difference) {
    switch (difference.kind) {
      case Difference::Kind::added:
        record.extra.push_back(difference.after->path.text());
        break;
      case Difference::Kind::removed:
        record.missing.push_back(difference.before->path.text());
        break;
      case Difference::Kind::changed:
        compare_entries(expected, found, difference, record);
        break;
    }
  });
  return record;
}

}  // namespace sabath
